"""Agents as tools of an MCP server, for other programs that call them."""
