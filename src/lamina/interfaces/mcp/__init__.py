"""The MCP server: memory for any agent that speaks the Model Context Protocol."""
