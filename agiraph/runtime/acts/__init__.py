"""Tools that change the run: the board, its workers, messages, questions, its end."""
