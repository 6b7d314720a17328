"""The models of the comparison as tasks of the runner."""
