"""Providers: one file per wire format, one that knows HTTP, one that replays recordings."""
