"""How `offline/digest` decides: a conversation in, the next move out; no model."""
