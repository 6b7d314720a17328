"""Random continuous worlds and the models that follow them."""
