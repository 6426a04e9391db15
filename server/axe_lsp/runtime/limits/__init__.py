"""What a run uses up, in tokens, money and time, and when that is too much."""
