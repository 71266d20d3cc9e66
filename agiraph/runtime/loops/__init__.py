"""The loops: the coordinator's and the workers', from one model call to the next."""
