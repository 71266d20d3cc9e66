"""Lets `python -m agiraph` be the command `agiraph`."""

from agiraph.cli.app import main

if __name__ == "__main__":
    main()
