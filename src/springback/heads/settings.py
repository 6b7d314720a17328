"""The settings of a head, of either kind."""

from springback.heads.observer import Observer
from springback.heads.springs import Springs

Settings = Springs | Observer
"""How a head remembers."""
