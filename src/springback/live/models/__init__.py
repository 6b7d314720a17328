"""Model files that can follow a stream; a file with MODEL registers itself."""
