"""A server that has another tool once its first was called, and says so."""

from mcp.server.mcpserver import Context, MCPServer

server = MCPServer("growing")


@server.tool()
async def grow(context: Context) -> str:
    """Makes another tool."""

    def leaf() -> str:
        """Is there since `grow` was called."""
        return "green"

    server.add_tool(leaf)
    await context.session.send_tool_list_changed()
    return "grown"


if __name__ == "__main__":
    server.run("stdio")
