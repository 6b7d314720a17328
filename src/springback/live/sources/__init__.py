"""Where frames come from; a file with SOURCE registers itself."""
