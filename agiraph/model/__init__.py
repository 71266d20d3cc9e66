"""Frozen words of the user's world."""
