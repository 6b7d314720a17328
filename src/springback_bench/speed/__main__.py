"""`make bench` and `springback bench`."""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("NUMBA_NUM_THREADS", "1")

from springback_bench.speed.suite import main

main()
