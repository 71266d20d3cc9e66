"""Tool servers by the Model Context Protocol."""
