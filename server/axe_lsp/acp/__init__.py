"""Agents in front of editors that speak the Agent Client Protocol, version 1."""
