"""One file per figure: a result goes in, a matplotlib Figure comes out. Nothing is computed here."""
