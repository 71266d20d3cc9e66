"""The only code that talks to models."""
