"""What models can call."""
