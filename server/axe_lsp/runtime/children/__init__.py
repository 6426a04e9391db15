"""Agents that call agents: the tools that do it, what a call does, and children in processes of their own."""
