"""The command of the studio: `springback studio`."""
