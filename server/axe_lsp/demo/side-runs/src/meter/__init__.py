"""Readings of a meter."""

from meter.readings import peak, total

__all__ = ["peak", "total"]
