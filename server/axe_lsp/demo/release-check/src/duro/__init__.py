"""Durations as people write them."""

from duro.parsing import parse
from duro.printing import render

__all__ = ["parse", "render"]
__version__ = "1.4.0"
