"""Words in, words out: the commands that a person types."""
