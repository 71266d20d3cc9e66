"""When triggers are due: instants worked out from what triggers.yaml says."""
