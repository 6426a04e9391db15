"""Agents in copies on other machines: the tools of such an agent work there, and everything else stays here."""
