"""The speed of springback and of other simulators, measured on one machine in one run."""
