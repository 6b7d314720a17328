"""One file per figure: what it runs, what the result holds, how it is drawn, and what its caption says."""
