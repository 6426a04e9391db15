"""Conversion of agent files between formats: axe, Codex, Claude Code, Copilot, Gemini CLI and Vibe."""
