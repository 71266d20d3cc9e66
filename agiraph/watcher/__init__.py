"""Hints in, names of agents out: says that a folder may have changed, never what.

One inotify watch for each folder, none below it, so that work folders cost nothing. An
event can be lost, doubled or late without a word: a queue runs over, a folder arrives
with its content already in it. So whoever hears a hint looks at the folder itself, a
folder is hinted at again once its watch stands, and a slow rescan covers the rest.
"""

from agiraph.watcher.watch import EVERYTHING, THE_ROOT, FolderWatch

__all__ = ["EVERYTHING", "THE_ROOT", "FolderWatch"]
