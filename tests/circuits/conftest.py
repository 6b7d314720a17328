"""The scripts that made the reference data are benchmarks, which are no part of the installed package."""

import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
if str(ROOT) not in sys.path:
    sys.path.append(str(ROOT))
