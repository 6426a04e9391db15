"""Recordings of runs, which replay without a provider: their data, their files, who writes them."""
