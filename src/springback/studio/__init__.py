"""The studio: short-term plasticity, live in the browser, on digits or on a stream of one's own (`own_stream`)."""
