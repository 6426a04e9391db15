"""Every key of a Codex agent file and of Codex's config.toml, one row each.

Recorded with Codex 0.169: each key and type was tried in the program itself (`codex doctor`), since its
published schema is older. An agent file takes all keys of config.toml. Codex rejects an unknown key at the
top of a file, and ignores it below a table.
"""

from __future__ import annotations

from msgspec.structs import replace

from axe_lsp.agentfile.schema.codex_names import EFFORTS, FEATURES, HOOK_EVENTS, MODELS
from axe_lsp.agentfile.schema.key_spec import KeySpec, KeyType, Names, Schema

_S, _I, _F, _B = KeyType.STRING, KeyType.INTEGER, KeyType.FLOAT, KeyType.BOOLEAN
_SS, _T, _TT = KeyType.STRINGS, KeyType.TABLE, KeyType.TABLES
_MAP, _ANY = KeyType.STRING_TABLE, KeyType.ANY_TABLE

_U8, _U16, _I32, _U64 = 2**8 - 1, 2**16 - 1, 2**31 - 1, 2**63 - 1
"""The largest values of Codex's integers. TOML ends at 2**63."""

_PARENT = "A spawned agent works with the parent's value."
_SESSION = "It concerns a whole session and has no use in an agent."


def _key(dotted: str, type_: KeyType, doc: str, **columns: object) -> KeySpec:
    return KeySpec(tuple(dotted.split(".")), type_, doc, **columns)  # type: ignore[arg-type]


def _count(dotted: str, doc: str, most: int = _U64, least: int = 0, **columns: object) -> KeySpec:
    return _key(dotted, _I, doc, minimum=least, maximum=most, **columns)


def _flags(table: str, docs: dict[str, str], **columns: object) -> tuple[KeySpec, ...]:
    return tuple(_key(f"{table}{name}", _B, doc, **columns) for name, doc in docs.items())


def _texts(table: str, docs: dict[str, str], **columns: object) -> tuple[KeySpec, ...]:
    return tuple(_key(f"{table}{name}", _S, doc, **columns) for name, doc in docs.items())


_AGENT_KEYS = (
    _key(
        "name",
        _S,
        "The name by which Codex spawns the agent. It need not be the file name. A file that `[agents]` of "
        "config.toml declares need not have a name; if it has one, Codex uses it.",
    ),
    _key(
        "description",
        _S,
        "When to use the agent. The model that may spawn it reads this.",
    ),
    _key(
        "nickname_candidates",
        _SS,
        "Names that Codex shows for spawned agents in place of their ids: ASCII letters, digits, spaces, `-` "
        "and `_`, each one once.",
    ),
    _key(
        "developer_instructions",
        _S,
        "The instructions of the agent: its system prompt.",
    ),
)

_MODEL_KEYS = (
    _key(
        "model",
        _S,
        "The model, without a provider before it. Without this key the agent uses its parent's model.",
        suggestions=tuple(MODELS),
    ),
    _key(
        "model_reasoning_effort",
        _S,
        "How much the model thinks. With an effort that the model does not have, every spawn of the agent "
        "fails.",
        suggestions=EFFORTS,
    ),
    _key(
        "model_reasoning_summary",
        _S,
        "How long the summaries of the model's reasoning are.",
        choices=("auto", "concise", "detailed", "none"),
        default='"auto"',
    ),
    _key(
        "model_verbosity",
        _S,
        "How long the answers are.",
        choices=("low", "medium", "high"),
        default='"medium"',
    ),
    _key(
        "model_provider",
        _S,
        "The provider of the model: `openai`, a built-in one, or one of `[model_providers]`.",
        no_effect=_PARENT,
    ),
    _key("review_model", _S, "The model of `/review`.", no_effect=_SESSION),
    _key(
        "plan_mode_reasoning_effort",
        _S,
        "How much the model thinks in plan mode.",
        suggestions=EFFORTS,
    ),
    _key("model_context_window", _I, "The context window of the model, in tokens."),
    _key(
        "model_auto_compact_token_limit",
        _I,
        "The number of tokens at which the conversation is compacted.",
    ),
    _key(
        "model_auto_compact_token_limit_scope",
        _S,
        "The tokens that `model_auto_compact_token_limit` counts.",
        choices=("total", "body_after_prefix"),
    ),
    _count(
        "model_post_turn_compact_threshold_percent",
        "How full the context is, in percent, before the conversation is compacted after a turn.",
        _U8,
    ),
    _key(
        "model_instructions_file",
        _S,
        "A file with instructions in place of the model's built-in ones. The path starts at the folder of "
        "this file.",
        names=Names.FILE,
    ),
    _key(
        "model_catalog_json",
        _S,
        "A file with a catalog of models in place of the built-in one.",
        names=Names.FILE,
    ),
    _key("service_tier", _S, "The service tier of requests.", suggestions=("fast", "flex")),
    _key(
        "personality",
        _S,
        "The tone of the answers.",
        choices=("none", "friendly", "pragmatic"),
    ),
    _key(
        "web_search",
        _S,
        "Whether the model can search the web, and where its pages come from.",
        choices=("disabled", "cached", "indexed", "live"),
    ),
    _key("instructions", _S, "System instructions.", no_effect=_PARENT),
    _key("compact_prompt", _S, "The prompt that compacts a conversation."),
    _key(
        "experimental_compact_prompt_file",
        _S,
        "A file with the prompt that compacts a conversation.",
        names=Names.FILE,
    ),
    _key("profile", _S, "The profile of `[profiles]` that is used.", no_effect=_PARENT),
)

_PERMISSION_KEYS = (
    _key(
        "sandbox_mode",
        _S,
        "The files that commands may change.",
        choices=("read-only", "workspace-write", "danger-full-access"),
        no_effect=_PARENT,
    ),
    _key(
        "approval_policy",
        _S,
        "When the user is asked before a command is executed.",
        also=(_T,),
        choices=("untrusted", "on-failure", "on-request", "never"),
        no_effect=_PARENT,
    ),
    _key("approval_policy.granular", _T, "Which kinds of questions reach the user."),
    *_flags(
        "approval_policy.granular.",
        {
            "sandbox_approval": "Questions about commands that leave the sandbox.",
            "rules": "Questions that rules ask for.",
            "mcp_elicitations": "Questions of MCP servers.",
        },
        required=True,
    ),
    *_flags(
        "approval_policy.granular.",
        {
            "skill_approval": "Questions about skills.",
            "request_permissions": "Requests of the model for permissions.",
        },
    ),
    _key(
        "approvals_reviewer",
        _S,
        "Who answers questions about approvals.",
        choices=("user", "auto_review", "guardian_subagent"),
    ),
    _key(
        "default_permissions",
        _S,
        "The table of `[permissions]` that is in force.",
        no_effect=_PARENT,
    ),
    _key("permissions", _T, "Named sets of permissions."),
    _key("permissions.*", _T, "One set of permissions."),
    _key("permissions.*.description", _S, "The purpose of the set."),
    _key("permissions.*.extends", _S, "The set that this one adds to."),
    _key(
        "permissions.*.filesystem", _T, "Paths, and what commands may do with the files below them."
    ),
    _key(
        "permissions.*.filesystem.*",
        _S,
        "The rights of commands to the files at this path.",
        also=(_T,),
        choices=("read", "write", "none", "deny"),
    ),
    _key(
        "permissions.*.filesystem.*.*",
        _S,
        "The rights of commands to the files at this path below.",
        choices=("read", "write", "none", "deny"),
    ),
    _key("permissions.*.network", _T, "The rights of commands on the network."),
    _key("permissions.*.network.enabled", _B, "Whether commands have the network."),
    _key(
        "permissions.*.network.mode",
        _S,
        "Which requests are allowed.",
        choices=("limited", "full"),
    ),
    _key(
        "sandbox_workspace_write",
        _T,
        "Details of the sandbox mode `workspace-write`.",
        or_empty_array=True,
        no_effect=_PARENT,
    ),
    _key("sandbox_workspace_write.writable_roots", _SS, "Further folders that can be written to."),
    *_flags(
        "sandbox_workspace_write.",
        {
            "network_access": "Whether commands have the network.",
            "exclude_tmpdir_env_var": "Whether the folder in `TMPDIR` can't be written to.",
            "exclude_slash_tmp": "Whether `/tmp` can't be written to.",
        },
        default="false",
    ),
    _key("shell_environment_policy", _T, "The environment variables of commands."),
    _key(
        "shell_environment_policy.inherit",
        _S,
        "The variables to begin with.",
        choices=("core", "all", "none"),
        default='"all"',
    ),
    *_flags(
        "shell_environment_policy.",
        {
            "ignore_default_excludes": "Whether variables with KEY, SECRET or TOKEN in their name are kept.",
            "experimental_use_profile": "Whether the shell reads the user's profile.",
        },
    ),
    _key("shell_environment_policy.exclude", _SS, "Patterns of variables to leave out."),
    _key("shell_environment_policy.include_only", _SS, "Patterns; only variables that match stay."),
    _key("shell_environment_policy.set", _MAP, "Variables to set."),
    _key("shell_environment_policy.filters", _T, "Filters of values."),
    _key("shell_environment_policy.filters.*", _S, "One filter.", choices=("include", "exclude")),
    _key("allow_login_shell", _B, "Whether commands may use a login shell."),
)

_MCP = "mcp_servers.*."
_MCP_KEYS = (
    _key(
        "mcp_servers",
        _T,
        "The MCP servers, one table each.",
        no_effect="A spawned agent has the MCP servers of config.toml.",
    ),
    _key("mcp_servers.*", _T, "One MCP server: a `command` to start, or the `url` of one."),
    *_texts(
        _MCP,
        {
            "command": "The program of a server that Codex starts.",
            "cwd": "The working directory of the program.",
            "url": "The address of a server.",
            "bearer_token_env_var": "The environment variable with the server's token.",
            "http_headers_helper": "A command that prints headers.",
            "oauth_resource": "The resource that tokens are asked for.",
            "environment_id": "The environment in which the server runs.",
            "name": "The name that is shown.",
        },
    ),
    _key(f"{_MCP}args", _SS, "The arguments of the program."),
    _key(f"{_MCP}env", _MAP, "Environment variables of the program."),
    _key(
        f"{_MCP}env_vars",
        _SS,
        "Environment variables that the program gets from Codex: names, or tables with `name` and `source`.",
        also=(_TT,),
    ),
    _key(f"{_MCP}env_vars.name", _S, "The variable.", required=True),
    _key(f"{_MCP}env_vars.source", _S, "Where the value comes from.", choices=("local", "remote")),
    _key(f"{_MCP}http_headers", _MAP, "Headers of each request."),
    _key(f"{_MCP}env_http_headers", _MAP, "Headers whose values environment variables have."),
    _key(
        f"{_MCP}auth",
        _S,
        "How the server is logged in to.",
        choices=("oauth", "chatgpt", "ema_auth"),
    ),
    _key(f"{_MCP}oauth", _T, "Settings for OAuth.", or_empty_array=True),
    _key(f"{_MCP}oauth.client_id", _S, "The id of the client."),
    _count(f"{_MCP}oauth.callback_port", "The port of the callback.", _U16),
    *_flags(
        _MCP,
        {
            "enabled": "Whether the server is used.",
            "required": "Whether a session fails without the server.",
            "supports_parallel_tool_calls": "Whether tools of the server may run at the same time.",
        },
    ),
    _key(f"{_MCP}startup_timeout_sec", _F, "Seconds that the server has to start.", minimum=0),
    _key(f"{_MCP}tool_timeout_sec", _F, "Seconds that a tool call may take.", minimum=0),
    _count(f"{_MCP}startup_timeout_ms", "Milliseconds that the server has to start."),
    _key(f"{_MCP}enabled_tools", _SS, "The only tools of the server that are offered."),
    _key(f"{_MCP}disabled_tools", _SS, "Tools of the server that are not offered."),
    _key(f"{_MCP}scopes", _SS, "Scopes that tokens are asked for."),
    _key(
        f"{_MCP}default_tools_approval_mode",
        _S,
        "When the user is asked before a tool is called.",
        choices=("auto", "prompt", "writes", "approve"),
    ),
    _key(
        f"{_MCP}omit_tools_from",
        _SS,
        "Where the tools are left out.",
        choices=("code_mode", "deferred", "direct"),
    ),
    _key(f"{_MCP}tools", _T, "Settings of single tools."),
    _key(f"{_MCP}tools.*", _T, "Settings of one tool.", or_empty_array=True),
    _key(
        f"{_MCP}tools.*.approval_mode",
        _S,
        "When the user is asked before the tool is called.",
        choices=("auto", "prompt", "writes", "approve"),
    ),
    _key(
        f"{_MCP}bearer_token",
        _S,
        "Codex rejects it: a token does not belong in a file. `bearer_token_env_var` names a variable.",
        is_secret=True,
    ),
)

_TOOL_KEYS = (
    _key("tools", _T, "Settings of tools. It can't list tools: an agent can't choose them."),
    _key("tools.web_search", _B, "The web search.", also=(_T,)),
    _key(
        "tools.web_search.context_size",
        _S,
        "How much of the pages the model gets.",
        choices=("low", "medium", "high"),
    ),
    _key("tools.web_search.allowed_domains", _SS, "The only domains that are searched."),
    _key("tools.web_search.location", _T, "Where the user is."),
    *_texts(
        "tools.web_search.location.",
        {
            "country": "The country.",
            "region": "The region.",
            "city": "The city.",
            "timezone": "The time zone.",
        },
    ),
    _key("tools.update_plan", _T, "The tool that keeps a plan.", or_empty_array=True),
    _key("tools.update_plan.enabled", _B, "Whether the tool is offered."),
    _key(
        "tools.experimental_request_user_input",
        _T,
        "The tool that asks the user.",
        or_empty_array=True,
    ),
    _key("tools.experimental_request_user_input.enabled", _B, "Whether the tool is offered."),
    _key(
        "tools.client_search_provider",
        _S,
        "Who searches for tools.",
        choices=("standalone", "search_mcp"),
    ),
    _key("skills", _T, "Skills.", or_empty_array=True),
    _key(
        "skills.config",
        _TT,
        "Skills that are switched on or off; each entry has a `path` or a `name`.",
    ),
    _key(
        "skills.config.path",
        _S,
        "The skill's SKILL.md, or its folder.",
        names=Names.FILE,
    ),
    _key("skills.config.name", _S, "The name of the skill."),
    _key("skills.config.enabled", _B, "Whether the skill is offered.", required=True),
    _key("skills.include_instructions", _B, "Whether the list of skills is in the prompt."),
    _key("skills.bundled", _T, "The skills that Codex brings.", or_empty_array=True),
    _key("skills.bundled.enabled", _B, "Whether they are offered."),
    _count("skills.max_context_tokens", "The size of the list of skills, in tokens.", least=1),
    _key("features", _T, "Feature flags."),
    _key("features.*", _B, "A feature flag."),
    *(
        _key(f"features.{name}", _B, f"The feature `{name}` ({state}).")
        for name, state in FEATURES.items()
        if "." not in name and name not in ("multi_agent_v2", "code_mode", "network_proxy")
    ),
    *(
        key
        for name in ("multi_agent_v2", "code_mode", "network_proxy")
        for key in (
            _key(f"features.{name}", _B, f"The feature `{name}` ({FEATURES[name]}).", also=(_T,)),
            _key(f"features.{name}.enabled", _B, "Whether the feature is on."),
        )
    ),
    _key("hooks", _T, "Commands that Codex executes at events."),
    *(
        key
        for event in HOOK_EVENTS
        for key in (
            _key(f"hooks.{event}", _TT, "The hooks of this event."),
            _key(f"hooks.{event}.matcher", _S, "A pattern of the tools that it is about."),
            _key(f"hooks.{event}.hooks", _TT, "The hooks.", default="[]"),
            _key(
                f"hooks.{event}.hooks.type",
                _S,
                "The kind of the hook.",
                required=True,
                choices=("command", "mcp_tool", "prompt", "agent"),
            ),
            _key(f"hooks.{event}.hooks.command", _S, "The command to execute."),
            _key(f"hooks.{event}.hooks.commandWindows", _S, "The command to execute on Windows."),
            _key(f"hooks.{event}.hooks.command_windows", _S, "The command to execute on Windows."),
            _key(f"hooks.{event}.hooks.async", _B, "Whether Codex goes on without the result."),
            _count(
                f"hooks.{event}.hooks.additionalContextLimit",
                "How much context the hook may add.",
            ),
            _key(f"hooks.{event}.hooks.server", KeyType.ANY, "The MCP server of the tool."),
            _key(f"hooks.{event}.hooks.tool", KeyType.ANY, "The tool of the MCP server."),
            _key(f"hooks.{event}.hooks.input", KeyType.ANY, "The input of the tool, a table."),
            _key(
                f"hooks.{event}.hooks.statusMessage",
                _S,
                "A text that is shown while the hook runs.",
            ),
            _count(f"hooks.{event}.hooks.timeout", "Seconds that the hook may take."),
        )
    ),
)

_PROVIDER = "model_providers.*."
_PROVIDER_KEYS = (
    _key("model_providers", _T, "Providers of models, one table each."),
    _key("model_providers.*", _T, "One provider. `openai`, `ollama` and `lmstudio` are built in."),
    _key(f"{_PROVIDER}name", _S, "The name that is shown.", required=True),
    *_texts(
        _PROVIDER,
        {
            "base_url": "The address of the service.",
            "env_key": "The environment variable with the key.",
            "env_key_instructions": "How to get a key.",
        },
    ),
    _key(f"{_PROVIDER}wire_api", _S, "The wire format.", choices=("responses",)),
    _key(f"{_PROVIDER}http_headers", _MAP, "Headers of each request."),
    _key(f"{_PROVIDER}env_http_headers", _MAP, "Headers whose values environment variables have."),
    _key(f"{_PROVIDER}query_params", _MAP, "Parameters of the address."),
    _count(f"{_PROVIDER}request_max_retries", "How often a request is sent again."),
    _count(f"{_PROVIDER}stream_max_retries", "How often a stream that has broken off is resumed."),
    _count(
        f"{_PROVIDER}stream_idle_timeout_ms", "Milliseconds without an event that end a stream."
    ),
    _count(f"{_PROVIDER}websocket_connect_timeout_ms", "Milliseconds that a connection may take."),
    *_flags(
        _PROVIDER,
        {
            "requires_openai_auth": "Whether requests carry the login of OpenAI.",
            "supports_websockets": "Whether the service takes WebSockets.",
        },
    ),
    _key(f"{_PROVIDER}auth", _T, "A command that prints a token."),
    _key(f"{_PROVIDER}auth.command", _S, "The command.", required=True),
    _key(f"{_PROVIDER}auth.args", _SS, "Its arguments."),
    _key(f"{_PROVIDER}aws", _ANY, "Settings for Amazon Bedrock."),
)

_SESSION_KEYS = (
    *_texts(
        "",
        {
            "oss_provider": "The provider of `--oss`.",
            "chatgpt_base_url": "The address of ChatGPT.",
            "openai_base_url": "The address of OpenAI's service.",
            "apps_mcp_product_sku": "The product for which apps are listed.",
            "mcp_oauth_callback_url": "The address of the callback of OAuth.",
            "experimental_thread_store_endpoint": "The address of the store of threads.",
            "experimental_realtime_ws_base_url": "The address of realtime WebSockets.",
            "experimental_realtime_webrtc_call_base_url": "The address of realtime calls.",
            "experimental_realtime_ws_model": "The model of realtime conversations.",
            "experimental_realtime_ws_backend_prompt": "The prompt of realtime conversations.",
            "experimental_realtime_ws_startup_context": "The context of realtime conversations.",
            "experimental_realtime_start_instructions": "The first instructions of realtime conversations.",
        },
    ),
    _key("forced_login_method", _S, "The only way to log in.", choices=("chatgpt", "api")),
    _key(
        "forced_chatgpt_workspace_id",
        _S,
        "The only workspaces of ChatGPT that can be logged in to: an id, or an array of ids.",
        also=(_SS,),
    ),
    _key(
        "cli_auth_credentials_store",
        _S,
        "Where logins are kept.",
        choices=("file", "keyring", "auto", "ephemeral"),
    ),
    _key(
        "mcp_oauth_credentials_store",
        _S,
        "Where logins to MCP servers are kept.",
        choices=("auto", "file", "keyring"),
    ),
    _key(
        "file_opener",
        _S,
        "The editor that links to files open.",
        choices=("vscode", "vscode-insiders", "windsurf", "cursor", "none"),
    ),
    _count("mcp_oauth_callback_port", "The port of the callback of OAuth.", _U16),
    _count(
        "mcp_optional_startup_grace_ms", "Milliseconds that optional MCP servers have to start."
    ),
    _count("background_terminal_max_timeout", "Milliseconds that a background command may take."),
    _count("thread_unload_delay_secs", "Seconds after which an idle thread is unloaded."),
    _count("project_doc_max_bytes", "The size of AGENTS.md that is read, in bytes."),
    _count("tool_output_token_limit", "The size of a tool's output, in tokens."),
    _key("sqlite_home", _S, "The folder of the database."),
    _key("log_dir", _S, "The folder of logs."),
    _key("js_repl_node_path", _S, "The Node program of the JavaScript tool."),
    _key("js_repl_node_module_dirs", _SS, "The folders of its modules."),
    _key("notify", _SS, "A command that is executed at events."),
    _key("project_doc_fallback_filenames", _SS, "Files that are read where AGENTS.md is missing."),
    _key("project_root_markers", _SS, "Names that mark the root of a project.", default='[".git"]'),
    *_flags(
        "",
        {
            "allow_symlinked_codex_home": "Whether Codex's own folder may be a link.",
            "include_permissions_instructions": "Whether the prompt describes the permissions.",
            "include_apps_instructions": "Whether the prompt describes apps.",
            "include_collaboration_mode_instructions": "Whether the prompt describes the collaboration mode.",
            "include_environment_context": "Whether the prompt describes the environment.",
            "include_environment_context_time": "Whether it has the time.",
            "hide_agent_reasoning": "Whether reasoning is hidden.",
            "show_raw_agent_reasoning": "Whether reasoning is shown as it is.",
            "suppress_unstable_features_warning": "Whether a warning about unstable features is left out.",
            "check_for_update_on_startup": "Whether Codex looks for updates.",
            "disable_paste_burst": "Whether pasted text is taken as typed text.",
            "experimental_use_unified_exec_tool": "Whether one tool executes all commands.",
        },
    ),
    _key("responses_api_metadata", _MAP, "Metadata of each request."),
    _key("desktop", _ANY, "Settings of the desktop app."),
    _key("profiles", _T, "Profiles, an older form."),
    _key("profiles.*", _ANY, "One profile."),
    _key("profiles.*.model", _S, "The model."),
    _key("history", _T, "The history of sessions.", or_empty_array=True),
    _key("history.persistence", _S, "The part that is kept.", choices=("save-all", "none")),
    _count("history.max_bytes", "The size of the history, in bytes."),
    _key("otel", _ANY, "OpenTelemetry."),
    _key("projects", _T, "Decisions of the user about projects."),
    _key("projects.*", _T, "One project, by its path."),
    _key(
        "projects.*.trust_level",
        _S,
        "Whether Codex reads the project's own configuration.",
        choices=("trusted", "untrusted"),
    ),
    _key("tui", _ANY, "The terminal interface."),
    _key(
        "tui.alternate_screen",
        _S,
        "Whether the interface has a screen of its own.",
        choices=("auto", "always", "never"),
    ),
    _key("analytics", _ANY, "Analytics."),
    _key("analytics.enabled", _B, "Whether they are sent."),
    _key("feedback", _ANY, "Feedback."),
    _key("feedback.enabled", _B, "Whether it can be sent."),
    _key("memories", _ANY, "Memories."),
    _key("memories.use_memories", _B, "Whether they are used."),
    _key("memories.generate_memories", _B, "Whether they are written."),
    _key("goals", _ANY, "Goals."),
    _count("goals.max_goal_token_budget", "The tokens of a goal.", least=1),
    _key("auto_review", _ANY, "The automatic review of approvals."),
    _key("auto_review.policy", _S, "Its policy."),
    _key("apps", _T, "Apps."),
    _key("apps.*", _ANY, "One app.", or_empty_array=True),
    _key("apps.*.enabled", _B, "Whether the app is used."),
    _key("plugins", _T, "Plugins."),
    _key("plugins.*", _ANY, "One plugin.", or_empty_array=True),
    _key("plugins.*.enabled", _B, "Whether the plugin is used."),
    _key("marketplaces", _T, "Marketplaces of plugins."),
    _key("marketplaces.*", _ANY, "One marketplace.", or_empty_array=True),
    _key("marketplaces.*.source_type", _S, "The kind of its source.", choices=("git", "local")),
    _key("windows", _ANY, "Windows."),
    _key("windows.sandbox", _S, "The sandbox.", choices=("elevated", "unelevated", "mxc")),
    _key("notice", _ANY, "Notices that the user has seen."),
    _key("notice.hide_full_access_warning", _B, "Whether the warning about full access is hidden."),
    _key("ghost_snapshot", _ANY, "Snapshots of the workspace."),
    _key("ghost_snapshot.disable_warnings", _B, "Whether warnings about them are left out."),
    _key("audio", _ANY, "Audio devices."),
    _key("realtime", _ANY, "Realtime conversations."),
    _key("realtime.version", _S, "The version of the protocol.", choices=("v1", "v2", "v3")),
    _key("orchestrator", _ANY, "The orchestrator."),
    _key("tool_suggest", _ANY, "Suggestions of tools.", or_empty_array=True),
    _key("tool_suggest.discoverables", KeyType.TABLES, "The tools that can be suggested."),
    _key(
        "tool_suggest.discoverables.type",
        _S,
        "The kind.",
        choices=("connector", "plugin"),
        required=True,
    ),
    _key("tool_suggest.discoverables.id", _S, "The id.", required=True),
    _key("browser_use", _ANY, "The use of a browser."),
    _key("computer_use", _ANY, "The use of a computer."),
    _key("cloud", _ANY, "Codex in the cloud."),
    _key("mcp_enterprise_managed_auth", _ANY, "Logins that an enterprise manages."),
    _key(
        "mcp_enterprise_managed_auth.idp",
        _ANY,
        "The service that identifies users.",
        required=True,
    ),
    _key("mcp_enterprise_managed_auth.idp.issuer", _S, "Its address.", required=True),
    _key("experimental_thread_store", _ANY, "The store of threads."),
    _key(
        "experimental_thread_store.type",
        _S,
        "The kind of the store.",
        required=True,
        choices=("local", "in_memory"),
    ),
)

_AGENTS = "agents.*."
_AGENTS_TABLE = (
    _key("agents", _T, "Agents that Codex can spawn, and settings for all of them."),
    *_flags(
        "agents.",
        {
            "enabled": "Whether agents can be spawned.",
            "interrupt_message": "Whether an agent that is interrupted gets a message about it.",
        },
        default="true",
    ),
    _count(
        "agents.max_concurrent_threads_per_session",
        "How many agents work at the same time.",
        least=1,
    ),
    _count(
        "agents.max_threads", "The older name of `max_concurrent_threads_per_session`.", least=1
    ),
    _key(
        "agents.max_depth",
        _I,
        "How deep agents may spawn agents.",
        minimum=-_I32 - 1,
        maximum=_I32,
    ),
    _key("agents.default_subagent_model", _S, "The model of agents that name none."),
    _key(
        "agents.default_subagent_reasoning_effort",
        _S,
        "The effort of agents that name none.",
        suggestions=EFFORTS,
    ),
    _count("agents.job_max_runtime_seconds", "It has no effect any more."),
    _key("agents.*", _T, "One agent, by its name."),
    _key(
        f"{_AGENTS}description",
        _S,
        "When to use the agent. The file's own description is preferred.",
    ),
    _key(
        f"{_AGENTS}config_file",
        _S,
        "The agent's file. The path starts at the folder of this config.toml.",
        names=Names.FILE,
    ),
    _key(
        f"{_AGENTS}nickname_candidates",
        _SS,
        "Names that Codex shows for spawned agents: ASCII letters, digits, spaces, `-` and `_`.",
    ),
)

_KEYS = (
    *_MODEL_KEYS,
    *_PERMISSION_KEYS,
    *_MCP_KEYS,
    *_TOOL_KEYS,
    *_PROVIDER_KEYS,
    *_SESSION_KEYS,
    *_AGENTS_TABLE,
)

CODEX_AGENT = Schema(
    "Codex agent file",
    (*_AGENT_KEYS, *_KEYS),
    program="Codex",
    rejects_unknown=True,
    has_dates_as_text=True,
    empty_is_absent=False,
)

CODEX_CONFIG = Schema(
    "Codex config.toml",
    tuple(replace(key, no_effect="") for key in _KEYS),
    program="Codex",
    has_dates_as_text=True,
    empty_is_absent=False,
)
