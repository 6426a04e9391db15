"""The keys of agents in Markdown, one row each, for Claude Code, Copilot, opencode, gemini-cli, Cursor and Kiro.

Facts are those of Claude Code 2.1.332, Copilot CLI 1.0.102 with VS Code, opencode 1.18.34 and gemini-cli 0.61.0, and for Cursor
and Kiro their documentation. A row says which values a key takes; what a program does with other ones is in the `check` of its dialect.
"""

from __future__ import annotations

from axe_lsp.agentfile.schema.key_spec import (
    KeySpec,
    KeyType,
    Schema,
    choice,
    count,
    row,
)

_TEXT, _BOOL, _TEXTS, _TABLE = (
    KeyType.STRING,
    KeyType.BOOLEAN,
    KeyType.STRINGS,
    KeyType.ANY_TABLE,
)
_ANY = KeyType.ANY

EFFORTS = "low medium high xhigh max"

_MODELS = ("inherit", "sonnet", "opus", "haiku", "fable", "best", "opusplan")
CLAUDE_MODELS = _MODELS
CLAUDE_COLORS = "red blue green yellow purple orange pink cyan"
CLAUDE_MODES = "acceptEdits auto bypassPermissions default dontAsk plan manual"
CLAUDE_EVENTS = frozenset(
    [
        "PreToolUse",
        "PostToolUse",
        "PostToolUseFailure",
        "PostToolBatch",
        "Notification",
        "UserPromptSubmit",
        "UserPromptExpansion",
        "SessionStart",
        "SessionEnd",
        "Stop",
        "StopFailure",
        "SubagentStart",
        "SubagentStop",
        "PreCompact",
        "PostCompact",
        "PreModelSwitch",
        "PostModelSwitch",
        "PermissionRequest",
        "PermissionDenied",
        "Setup",
        "TeammateIdle",
        "TaskCreated",
        "TaskCompleted",
        "Elicitation",
        "ElicitationResult",
        "ConfigChange",
        "WorktreeCreate",
        "WorktreeRemove",
        "InstructionsLoaded",
        "CwdChanged",
        "FileChanged",
        "DirectoryAdded",
        "MessageDisplay",
        "PreSkillShellCommand",
    ]
)
CLAUDE_TOOLS = (
    "Agent",
    "Bash",
    "CronCreate",
    "CronDelete",
    "CronList",
    "Edit",
    "EnterWorktree",
    "ExitWorktree",
    "Glob",
    "Grep",
    "ListAgents",
    "Monitor",
    "NotebookEdit",
    "Read",
    "ReportFindings",
    "SendMessage",
    "Skill",
    "TaskStop",
    "WebFetch",
    "WebSearch",
    "Write",
)
CLAUDE_BUILT_IN = ("claude", "Explore", "general-purpose", "Plan", "statusline-setup")

_CLAUDE = (
    row(
        "name",
        _TEXT,
        "The agent's name, by which it is called. The name of the file means nothing.",
        required=True,
    ),
    row(
        "description",
        _TEXT,
        "When to delegate to the agent; the caller's model reads it.",
        required=True,
    ),
    row(
        "tools",
        _TEXTS,
        "The tools of the agent, as a list or a text with commas: `Read, Grep, Bash(git:*)`. Absent: all tools. `Agent(a, b)` "
        "binds only a main agent, which may then start these agents alone.",
        default="all tools",
        also=(_TEXT,),
        suggestions=CLAUDE_TOOLS,
    ),
    row(
        "disallowedTools",
        _TEXTS,
        "Tools that are taken away, after `tools` is applied.",
        also=(_TEXT,),
        suggestions=CLAUDE_TOOLS,
    ),
    row(
        "model",
        _TEXT,
        "An alias, the id of a model, or `inherit` for the caller's model.",
        default="the caller's model",
        suggestions=_MODELS,
    ),
    choice(
        "effort",
        EFFORTS,
        "The effort of reasoning; a number is taken, too, and sends none.",
        also=(KeyType.INTEGER,),
    ),
    choice("permissionMode", CLAUDE_MODES, "The rights of the agent without a question."),
    count("maxTurns", "The most turns of a run.", minimum=1),
    count("autoCompactWindow", "Tokens at which the conversation is compacted.", minimum=100_000),
    row("skills", _TEXTS, "Skills whose text is put into the agent's messages.", also=(_TEXT,)),
    row("mcpServers", _ANY, "A list of names of MCP servers, and of tables with one server each."),
    row("hooks", _TABLE, "Hooks by event, each a list of tables with `matcher` and `hooks`."),
    choice(
        "memory",
        "user project local",
        "Where the agent keeps its memory. Adds the tools Read, Write and Edit.",
    ),
    row("background", _BOOL, "Whether the agent always runs in the background.", default="false"),
    choice(
        "isolation",
        "worktree remote",
        "Where the agent works: in a git worktree of its own, or on another machine.",
    ),
    choice("color", CLAUDE_COLORS, "The color in the list of agents."),
    row("omitClaudeMd", _BOOL, "Whether CLAUDE.md is left out.", default="false"),
    row("initialPrompt", _TEXT, "The first message, if the agent is started with `--agent`."),
    row("observer", _ANY, "An agent that observes this one."),
    row("observerMessage", _ANY, "The message to the observer."),
    row("observeSubagents", _ANY, "Whether called agents are observed, too."),
    row("observeToolResults", _ANY, "Whether results of tools are observed, too."),
    row("experimental", _TABLE, "Settings that may change: `cacheTtl`, `5m` or `1h`."),
)

COPILOT_EVENTS = frozenset(
    [
        "sessionStart",
        "sessionEnd",
        "userPromptSubmitted",
        "preToolUse",
        "postToolUse",
        "agentStop",
        "subagentStop",
        "errorOccurred",
        "PreToolUse",
        "PostToolUse",
        "SessionStart",
        "SessionEnd",
        "UserPromptSubmit",
        "Stop",
        "SubagentStop",
    ]
)
COPILOT_TOOLS = ("execute", "read", "edit", "search", "agent", "todo", "web")
COPILOT_READ_ELSEWHERE = ("agents", "handoffs", "target", "argument-hint", "metadata")
"""Keys that VS Code or GitHub read, and Copilot CLI ignores."""

_COPILOT = (
    row("name", _TEXT, "The agent's name; absent: the name of the file."),
    row("description", _TEXT, "The purpose of the agent.", required=True),
    row(
        "tools",
        _TEXTS,
        "The tools of the agent, as a list or a text with commas. Absent: all; `[]`: none.",
        also=(_TEXT,),
        suggestions=COPILOT_TOOLS,
    ),
    row("model", _TEXT, "A model, or a list in order of preference.", also=(_TEXTS,)),
    choice("model-policy", "preferred required", "Whether another model may be used."),
    choice("reasoning-effort", EFFORTS, "The effort of reasoning."),
    row(
        "user-invocable",
        _BOOL,
        "Whether the agent is in the list that users choose from.",
        default="true",
    ),
    row("disable-model-invocation", _BOOL, "Whether models can't call the agent.", default="false"),
    row(
        "infer",
        _BOOL,
        "Former form of the two keys before.",
        deprecated="`user-invocable` and `disable-model-invocation`",
    ),
    row("deferred-tool-loading", _BOOL, "Whether tools are loaded when they are needed."),
    row("strict-tools-list", _BOOL, "Whether the agent has only the listed tools."),
    row(
        "include-custom-instructions",
        _BOOL,
        "Whether the instructions of the repository are included.",
    ),
    row("skills", _TEXTS, "Skills of the agent."),
    row("github", _TABLE, "Permissions and toolsets of the GitHub server."),
    row("mcp-servers", _TABLE, "MCP servers by name."),
    row("hooks", _TABLE, "Hooks by event, each a list of commands."),
    row("agents", _TEXTS, "VS Code: the agents that this one may call; `*` for all."),
    row(
        "handoffs",
        KeyType.TABLES,
        "VS Code: buttons that go on with another agent: `label`, `agent`, `prompt`, `send`.",
    ),
    choice("target", "vscode github-copilot", "Where the agent is offered."),
    row("argument-hint", _TEXT, "VS Code: the hint in the input field."),
    row("metadata", _TABLE, "Values of the user's own."),
)

OPENCODE_ACTIONS = "ask allow deny"
OPENCODE_COLORS = "primary secondary accent success warning error info"
OPENCODE_BUILT_IN = ("build", "plan", "general", "explore", "compaction", "title", "summary")

_OPENCODE = (
    row(
        "description",
        _TEXT,
        "The purpose of the agent. Absent: other agents call it only on demand.",
    ),
    choice(
        "mode",
        "subagent primary all",
        "Whether users select the agent, or other agents call it.",
        default='"all"',
    ),
    row("model", _TEXT, "The model, as `provider/id`."),
    row("variant", _TEXT, "A variant of the model."),
    row("temperature", KeyType.FLOAT, "The temperature.", also=(KeyType.INTEGER,)),
    row("top_p", KeyType.FLOAT, "The nucleus of sampling.", also=(KeyType.INTEGER,)),
    row(
        "permission",
        _ANY,
        "`ask`, `allow` or `deny`, or a table of tools; the last rule that matches counts.",
    ),
    row("tools", _TABLE, "Tools that are on or off.", deprecated="`permission`"),
    count("steps", "The most turns of a run.", minimum=1),
    count("maxSteps", "Former name of `steps`.", minimum=1, deprecated="`steps`"),
    row("hidden", _BOOL, "Whether the agent is left out of the @ menu.", default="false"),
    row(
        "color",
        _TEXT,
        "`#rrggbb` in quotes, or a color of the theme.",
        suggestions=tuple(OPENCODE_COLORS.split()),
    ),
    row("disable", _BOOL, "Whether the agent is removed.", default="false"),
    row("options", _TABLE, "Options for the provider."),
    row("name", _TEXT, "The agent's name, in place of the path of its file."),
    row(
        "prompt",
        _ANY,
        "Not read: the text below the front matter is the prompt.",
        no_effect="the text below the front matter replaces it",
    ),
)

GEMINI_TOOLS = (
    "list_directory",
    "read_file",
    "read_many_files",
    "write_file",
    "replace",
    "glob",
    "grep_search",
    "run_shell_command",
    "web_fetch",
    "google_web_search",
    "write_todos",
    "ask_user",
    "activate_skill",
    "get_internal_docs",
    "enter_plan_mode",
    "exit_plan_mode",
    "update_topic",
    "complete_task",
    "invoke_agent",
    "read_mcp_resource",
    "list_mcp_resources",
)

GEMINI_BUILT_IN = ("codebase_investigator", "cli_help", "generalist", "browser_agent")

_GEMINI = (
    row("name", _TEXT, "The agent's name: lower-case letters, digits, `-` and `_`.", required=True),
    row("description", _TEXT, "When to delegate to the agent.", required=True),
    choice("kind", "local remote", "Whether the agent runs here.", default='"local"'),
    row("display_name", _TEXT, "The name that is shown."),
    row("model", _TEXT, "The model, or `inherit`.", default='"inherit"'),
    row(
        "tools",
        _TEXTS,
        "The tools of the agent. Absent: all; `[]`: none.",
        suggestions=GEMINI_TOOLS,
    ),
    row("temperature", KeyType.FLOAT, "The temperature.", default="1", also=(KeyType.INTEGER,)),
    count("max_turns", "The most turns of a run.", minimum=1, default="30"),
    count("timeout_mins", "The longest time of a run in minutes.", minimum=1, default="10"),
    row("mcp_servers", _TABLE, "MCP servers of the agent alone, by name."),
    row("agent_card_url", _TEXT, "The address of a remote agent's card."),
    row("agent_card_json", _TEXT, "A remote agent's card as JSON."),
    row("auth", _TABLE, "How to log in to a remote agent."),
)

_CURSOR = (
    row("name", _TEXT, "The agent's name; absent: the name of the file."),
    row("description", _TEXT, "When to delegate to the agent."),
    row(
        "model",
        _TEXT,
        "The model: `inherit`, `fast` or an id.",
        default='"inherit"',
        suggestions=("inherit", "fast"),
    ),
    row("readonly", _BOOL, "Whether the agent can't change anything.", default="false"),
    row("is_background", _BOOL, "Whether the agent runs in the background.", default="false"),
)

KIRO_TOOLS = (
    "read",
    "write",
    "shell",
    "web",
    "subagent",
    "knowledge",
    "todo_list",
    "@builtin",
    "*",
)

_KIRO = (
    row("name", _TEXT, "The agent's name; absent: the name of the file."),
    row("description", _TEXT, "The purpose of the agent."),
    row("prompt", _TEXT, "The prompt, or a file with it, `file://…`."),
    row("model", _TEXT, "The model."),
    row(
        "tools",
        _TEXTS,
        "The tools of the agent: tags such as `read`, `@server` for all tools of a server, `*` for all.",
        suggestions=KIRO_TOOLS,
    ),
    row(
        "allowedTools",
        _TEXTS,
        "Tools that are called without a question; patterns are read, `*` alone is not.",
    ),
    row("toolAliases", _TABLE, "Other names of tools."),
    row("toolsSettings", _TABLE, "Settings of tools by their names."),
    row(
        "permissions",
        KeyType.TABLES,
        "Rules with `capability`, `effect` and `match`: deny before ask before allow.",
    ),
    row("mcpServers", _TABLE, "MCP servers by name."),
    row("includeMcpJson", _BOOL, "Whether the servers of `mcp.json` are included."),
    row("resources", _TEXTS, "Files and skills that are read: `file://…`, `skill://…`."),
    row(
        "hooks",
        _TABLE,
        "Commands by event: `agentSpawn`, `userPromptSubmit`, `preToolUse`, `postToolUse`, `stop`.",
    ),
    row("keyboardShortcut", _TEXT, "The keys that select the agent."),
    row("welcomeMessage", _TEXT, "The text that is shown when the agent is selected."),
)

_OPENCODE_COMMAND = (
    row("description", _TEXT, "The purpose of the command."),
    row("agent", _TEXT, "The agent that gets the prompt.", default="the selected agent"),
    row("model", _TEXT, "The model, as `provider/id`."),
    row("variant", _TEXT, "A variant of the model."),
    row("subtask", _BOOL, "Whether the agent is called as a sub-agent.", default="false"),
)

_COMMAND = (
    row(
        "prompt",
        _TEXT,
        "The prompt; `{{args}}` stands for what is typed behind the command.",
        required=True,
    ),
    row("description", _TEXT, "The purpose of the command."),
)


def _schema(name: str, program: str, keys: tuple[KeySpec, ...]) -> Schema:
    return Schema(name, keys, program, is_judged_alone=True)


CLAUDE_AGENT = _schema("Claude Code agent", "Claude Code", _CLAUDE)
COPILOT_AGENT = _schema("Copilot agent", "Copilot CLI", _COPILOT)
OPENCODE_AGENT = _schema("opencode agent", "opencode", _OPENCODE)
GEMINI_AGENT = _schema("Gemini CLI agent", "Gemini CLI", _GEMINI)
CURSOR_AGENT = _schema("Cursor agent", "Cursor", _CURSOR)
KIRO_AGENT = _schema("Kiro agent", "Kiro", _KIRO)
OPENCODE_COMMAND = _schema("opencode command", "opencode", _OPENCODE_COMMAND)
GEMINI_COMMAND = _schema("Gemini CLI command", "Gemini CLI", _COMMAND)
