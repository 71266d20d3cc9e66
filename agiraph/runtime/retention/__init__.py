"""What grows old is put away: runs, the beginnings of logs, old conversations."""
