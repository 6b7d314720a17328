"""Tasks, where their results are kept, and the pools that run them."""
