"""Tools of MCP servers, which an agent file names in `[[mcp_servers]]` (axe 1.1)."""

SDK_MISSING = (
    'the Python package "mcp", which is not installed: '
    "run pip install 'CLONE[mcp]', where CLONE is a clone of the repository"
)
"""The missing extra, to complete a sentence. The extra is from a clone, as long as no registry has the package."""
