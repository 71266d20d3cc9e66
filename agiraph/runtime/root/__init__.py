"""What goes for the whole tree: who is looked at and when, PAUSE, notices."""
