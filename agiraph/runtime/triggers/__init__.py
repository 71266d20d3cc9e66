"""Triggers at work: what is armed, what is due, what was done, and the ledger of it."""
