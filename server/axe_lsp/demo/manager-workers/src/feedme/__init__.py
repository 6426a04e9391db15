"""Entries of feeds, newest first."""

from feedme.entries import newest, parse, unique

__all__ = ["newest", "parse", "unique"]
