"""Choosing how a saved model remembers, on recorded streams: one file for each kind of model."""
