"""The work of an agent: its runs, their nodes and workers, from made to published."""
