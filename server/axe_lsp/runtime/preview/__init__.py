"""What a run would send, before it does."""
