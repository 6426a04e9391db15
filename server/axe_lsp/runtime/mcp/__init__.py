"""Tools of MCP servers, which an agent file names in `[[mcp_servers]]` (axe 1.1)."""
