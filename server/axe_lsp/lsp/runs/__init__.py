"""The requests and commands about runs."""
