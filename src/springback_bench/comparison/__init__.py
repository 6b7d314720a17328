"""Our head and its rivals on streams: the same search of settings for all, and a page from the results alone."""
