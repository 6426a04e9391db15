"""Agents at work: conversations, providers, delegation. No LSP, no editor, no processes."""
