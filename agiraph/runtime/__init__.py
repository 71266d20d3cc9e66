"""Carries decisions to hands: what runs, for whom, in which order."""
