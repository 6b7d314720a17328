"""One file per table or figure: (parameters, seed) -> result."""
