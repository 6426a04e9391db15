"""The runs of agents as the logs of programs have them: axe-lsp's own history, Codex, Claude Code, opencode.

Logs of other programs are other people's words. Readers only read, store and return no text of a conversation, and never
raise because of what a log contains.
"""
