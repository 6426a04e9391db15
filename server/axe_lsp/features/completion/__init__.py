"""Completion: what could be typed at an offset."""
