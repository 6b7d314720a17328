"""Damaged and hostile files: what is refused, and that nothing else happens."""
