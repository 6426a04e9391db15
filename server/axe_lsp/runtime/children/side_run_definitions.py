"""The tools of an agent for its side runs, as they are offered to its model."""

from __future__ import annotations

from axe_lsp.agentfile.agent_definition import SubAgentsConfig
from axe_lsp.runtime.messages import Tool, ToolParameter

CHECK_AGENTS, WAIT_AGENTS = "check_agents", "wait_agents"
MESSAGE_AGENT, STOP_AGENT = "message_agent", "stop_agent"

BACKGROUND = ToolParameter(
    "boolean",
    "true starts a side run: this call returns at once, and the answer is given to you when it has ended",
)
"""The parameter of calls that may start a side run."""

_SIDE_RUN = ToolParameter("string", "Name of the side run, such as lint-1", required=True)

LONGEST_WAIT, USUAL_WAIT = 600, 60
"""Seconds of one call of `wait_agents`."""

SIDE_RUN_TOOLS: tuple[Tool, ...] = (
    Tool(
        CHECK_AGENTS,
        "List your side runs, or show the answer of one from a character on.",
        {
            "agent": ToolParameter("string", "Name of a side run, whose answer is shown"),
            "from": ToolParameter("integer", "The first character that is shown (default: 0)"),
        },
    ),
    Tool(
        WAIT_AGENTS,
        "Wait until a side run has ended, and get its answer. Answers are given to you without this, too: "
        "use it only if you can't go on.",
        {
            "agents": ToolParameter(
                "array", "Names of the side runs to wait for (default: all)", items="string"
            ),
            "seconds": ToolParameter(
                "integer", f"The longest wait, 1 to {LONGEST_WAIT} (default: {USUAL_WAIT})"
            ),
            "all": ToolParameter("boolean", "Wait until all of them have ended (default: false)"),
        },
    ),
    Tool(
        MESSAGE_AGENT,
        "Send a message to a side run, which gets it before its next request. now breaks off what it does.",
        {
            "agent": _SIDE_RUN,
            "message": ToolParameter("string", "The message", required=True),
            "now": ToolParameter("boolean", "Break off what the side run does (default: false)"),
        },
    ),
    Tool(STOP_AGENT, "Stop a side run.", {"agent": _SIDE_RUN}),
)
"""The tools, in the order in which they are offered."""

SIDE_RUN_TOOL_NAMES = frozenset(each.name for each in SIDE_RUN_TOOLS)


def side_run_tools(config: SubAgentsConfig) -> tuple[Tool, ...]:
    """Return the tools for side runs, of an agent that may start some."""
    return SIDE_RUN_TOOLS if config.has_side_runs else ()
