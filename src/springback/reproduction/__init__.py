"""Every table and figure of the paper in one run: units of work that are kept on disk, and the results they make."""
