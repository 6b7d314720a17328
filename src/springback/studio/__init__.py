"""The studio: watch synapses stretch and spring back, live in the browser (extra: studio)."""
