"""Everything on disk: files that are complete or absent, checked when they are read, and what models write there."""
