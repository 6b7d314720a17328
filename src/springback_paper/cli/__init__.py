"""The commands of the reproduction: `springback reproduce` and `springback tune`."""
