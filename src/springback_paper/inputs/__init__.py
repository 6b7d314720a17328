"""What tasks and figures are given: digits and noise, exact directions of a world, recorded runs of Brian2."""
