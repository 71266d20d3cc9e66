"""The definitions of the tools, one module for each family."""
