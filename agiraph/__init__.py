"""Agiraph turns folders into working agents."""

__version__ = "0.1.0"
