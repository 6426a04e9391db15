"""The tables of what files may say: keys, providers, models, tools; and how a key is found in a file."""
