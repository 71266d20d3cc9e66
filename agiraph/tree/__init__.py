"""The only code that reads and writes below the tree's root."""
