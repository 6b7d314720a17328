"""The search for free parameters on training digits."""
