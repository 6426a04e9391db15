"""Every key of a Codex agent file and of Codex's config.toml, one row each.

Recorded with Codex 0.171: each key and type was tried in the program itself, since its published schema is older.
An agent file takes all keys of config.toml, and of its own ones config.toml takes `developer_instructions`.
Codex rejects an unknown key at the top of an agent file, and ignores it in config.toml and below most tables.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from msgspec.structs import replace

from axe_lsp.agentfile.schema.codex_names import (
    EFFORTS,
    FEATURES,
    FORMER_FEATURES,
    HOOK_EVENTS,
    IGNORED_IN_PROJECTS,
    MODELS,
    SINCE,
    TABLE_FEATURES,
)
from axe_lsp.agentfile.schema.codex_session_keys import (
    FEATURE_TABLES,
    NETWORK_KEYS,
    SESSION_TABLES,
    TOOL_SETTINGS,
)
from axe_lsp.agentfile.schema.key_spec import (
    ANY_NAME,
    KeySpec,
    KeyType,
    Names,
    Schema,
    below,
    choice,
    count,
    row,
    rows,
    table,
)

_S, _I, _F, _B = KeyType.STRING, KeyType.INTEGER, KeyType.FLOAT, KeyType.BOOLEAN
_SS, _T, _TT = KeyType.STRINGS, KeyType.TABLE, KeyType.TABLES
_MAP, _ANY = KeyType.STRING_TABLE, KeyType.ANY_TABLE

_U8, _U16, _I32, _U64 = 2**8 - 1, 2**16 - 1, 2**31 - 1, 2**63 - 1
"""The largest values of Codex's integers. TOML ends at 2**63."""

_PARENT = "A spawned agent works with the parent's value."
_SESSION = "It concerns a whole session and has no use in an agent."
_IN_ROLE_FILE = (
    "The table of an agent has only `description`, `config_file` and `nickname_candidates`; other keys "
    "belong in the file that `config_file` names."
)


def _count(dotted: str, doc: str, most: int = _U64, least: int = 0) -> KeySpec:
    return count(dotted, doc, least, maximum=most)


_AGENT_KEYS = (
    row(
        "name",
        _S,
        "The name by which Codex spawns the agent. It need not be the file name. A file that `[agents]` of "
        "config.toml declares need not have a name; if it has one, Codex uses it.",
    ),
    row("description", _S, "When to use the agent. The model that may spawn it reads this."),
    row(
        "nickname_candidates",
        _SS,
        "Names that Codex shows for spawned agents in place of their ids: ASCII letters, digits, spaces, `-` "
        "and `_`, each one once.",
    ),
    row("developer_instructions", _S, "The instructions of the agent: its system prompt."),
)

_CONFIG_KEYS = (
    row(
        "developer_instructions",
        _S,
        "Instructions that each session begins with, as a message of the role `developer`.",
    ),
)

_MODEL_KEYS = (
    row(
        "model",
        _S,
        "The model, without a provider before it. Without this key the agent uses its parent's model.",
        suggestions=tuple(MODELS),
    ),
    row(
        "model_reasoning_effort",
        _S,
        "How much the model thinks. With an effort that the model does not have, every spawn of the agent "
        "fails.",
        suggestions=EFFORTS,
    ),
    choice(
        "model_reasoning_summary",
        "auto concise detailed none",
        "How long the summaries of the model's reasoning are.",
        default='"auto"',
    ),
    choice("model_verbosity", "low medium high", "How long the answers are.", default='"medium"'),
    row(
        "model_provider",
        _S,
        "The provider of the model: `openai`, a built-in one, or one of `[model_providers]`.",
        no_effect=_PARENT,
    ),
    row("review_model", _S, "The model of `/review`.", no_effect=_SESSION),
    row(
        "plan_mode_reasoning_effort",
        _S,
        "How much the model thinks in plan mode.",
        suggestions=EFFORTS,
    ),
    row("model_context_window", _I, "The context window of the model, in tokens."),
    row(
        "model_auto_compact_token_limit",
        _I,
        "The number of tokens at which the conversation is compacted.",
    ),
    choice(
        "model_auto_compact_token_limit_scope",
        "total body_after_prefix",
        "The tokens that `model_auto_compact_token_limit` counts.",
    ),
    _count(
        "model_post_turn_compact_threshold_percent",
        "How full the context is, in percent, before the conversation is compacted after a turn.",
        _U8,
    ),
    row(
        "model_instructions_file",
        _S,
        "A file with instructions in place of the model's built-in ones. The path starts at the folder of "
        "this file.",
        names=Names.FILE,
    ),
    row(
        "model_catalog_json",
        _S,
        "A file with a catalog of models in place of the built-in one.",
        names=Names.FILE,
    ),
    row("service_tier", _S, "The service tier of requests.", suggestions=("fast", "flex")),
    choice("personality", "none friendly pragmatic", "The tone of the answers."),
    choice(
        "web_search",
        "disabled cached indexed live",
        "Whether the model can search the web, and where its pages come from.",
    ),
    row("instructions", _S, "System instructions.", no_effect=_PARENT),
    row("compact_prompt", _S, "The prompt that compacts a conversation."),
    row(
        "experimental_compact_prompt_file",
        _S,
        "A file with the prompt that compacts a conversation.",
        names=Names.FILE,
    ),
    row("profile", _S, "The profile of `[profiles]` that is used.", no_effect=_PARENT),
)

_PERMISSION_KEYS = (
    choice(
        "sandbox_mode",
        "read-only workspace-write danger-full-access",
        "The files that commands may change.",
        no_effect=_PARENT,
    ),
    choice(
        "approval_policy",
        "untrusted on-failure on-request never",
        "When the user is asked before a command is executed.",
        also=(_T,),
        no_effect=_PARENT,
    ),
    row("approval_policy.granular", _T, "Which kinds of questions reach the user."),
    *rows(
        _B,
        {
            "approval_policy.granular.sandbox_approval": "Questions about commands that leave the sandbox.",
            "approval_policy.granular.rules": "Questions that rules ask for.",
            "approval_policy.granular.mcp_elicitations": "Questions of MCP servers.",
        },
        required=True,
    ),
    row("approval_policy.granular.skill_approval", _B, "Questions about skills."),
    row(
        "approval_policy.granular.request_permissions", _B, "Requests of the model for permissions."
    ),
    choice(
        "approvals_reviewer",
        "user auto_review guardian_subagent",
        "Who answers questions about approvals.",
    ),
    row(
        "default_permissions",
        _S,
        "The table of `[permissions]` that is in force.",
        no_effect=_PARENT,
    ),
    row("permissions", _T, "Named sets of permissions."),
    row("permissions.*", _T, "One set of permissions."),
    row("permissions.*.description", _S, "The purpose of the set."),
    row("permissions.*.extends", _S, "The set that this one adds to."),
    row(
        "permissions.*.filesystem", _T, "Paths, and what commands may do with the files below them."
    ),
    choice(
        "permissions.*.filesystem.*",
        "read write none deny",
        "The rights of commands to the files at this path.",
        also=(_T,),
    ),
    choice(
        "permissions.*.filesystem.*.*",
        "read write none deny",
        "The rights of commands to the files at this path below.",
    ),
    row("permissions.*.network", _T, "The rights of commands on the network."),
    *below("permissions.*.network", *NETWORK_KEYS),
    row("permissions.*.workspace_roots", _T, "The folders that `:workspace_roots` stands for."),
    row("permissions.*.workspace_roots.*", _B, "Whether it stands for the folder."),
    row("permissions.*.filesystem.glob_scan_max_depth", _I, "How deep `**` of a glob is followed."),
    row(
        "sandbox_workspace_write",
        _T,
        "Details of the sandbox mode `workspace-write`.",
        or_empty_array=True,
        no_effect=_PARENT,
    ),
    row("sandbox_workspace_write.writable_roots", _SS, "Further folders that can be written to."),
    *rows(
        _B,
        {
            "sandbox_workspace_write.network_access": "Whether commands have the network.",
            "sandbox_workspace_write.exclude_tmpdir_env_var": "Whether the folder in `TMPDIR` can't be written to.",
            "sandbox_workspace_write.exclude_slash_tmp": "Whether `/tmp` can't be written to.",
        },
        default="false",
    ),
    row("shell_environment_policy", _T, "The environment variables of commands."),
    choice(
        "shell_environment_policy.inherit",
        "core all none",
        "The variables to begin with.",
        default='"all"',
    ),
    *rows(
        _B,
        {
            "shell_environment_policy.ignore_default_excludes": "Whether variables with KEY, SECRET or TOKEN in their name are kept.",
            "shell_environment_policy.experimental_use_profile": "Whether the shell reads the user's profile.",
        },
    ),
    row("shell_environment_policy.exclude", _SS, "Patterns of variables to leave out."),
    row("shell_environment_policy.include_only", _SS, "Patterns; only variables that match stay."),
    row("shell_environment_policy.set", _MAP, "Variables to set."),
    row("shell_environment_policy.filters", _T, "Filters of values."),
    choice("shell_environment_policy.filters.*", "include exclude", "One filter."),
    row("allow_login_shell", _B, "Whether commands may use a login shell."),
)

_MCP_KEYS = (
    row(
        "mcp_servers",
        _T,
        "The MCP servers, one table each.",
        no_effect="A spawned agent has the MCP servers of config.toml.",
    ),
    *table(
        "mcp_servers.*",
        "One MCP server: a `command` to start, or the `url` of one.",
        row("command", _S, "The program of a server that Codex starts."),
        row("cwd", _S, "The working directory of the program."),
        row("url", _S, "The address of a server."),
        row("bearer_token_env_var", _S, "The environment variable with the server's token."),
        row("http_headers_helper", _S, "A command that prints headers."),
        row("oauth_resource", _S, "The resource that tokens are asked for."),
        row("environment_id", _S, "The environment in which the server runs."),
        row("name", _S, "The name that is shown."),
        choice("startup_readiness", "connection catalog", "When the server counts as started."),
        _count("tool_input_schema_max_bytes", "The size of a tool's schema, in bytes."),
        row("args", _SS, "The arguments of the program."),
        row("env", _MAP, "Environment variables of the program."),
        row(
            "env_vars",
            _SS,
            "Environment variables that the program gets from Codex: names, or tables with `name` and `source`.",
            also=(_TT,),
        ),
        row("env_vars.name", _S, "The variable.", required=True),
        choice("env_vars.source", "local remote", "Where the value comes from."),
        row("http_headers", _MAP, "Headers of each request."),
        row("env_http_headers", _MAP, "Headers whose values environment variables have."),
        choice("auth", "oauth chatgpt ema_auth", "How the server is logged in to."),
        row("oauth", _T, "Settings for OAuth.", or_empty_array=True),
        row("oauth.client_id", _S, "The id of the client."),
        row("oauth.client_secret", _S, "The secret of the client.", is_secret=True),
        choice(
            "oauth.token_endpoint_auth_method",
            "client_secret_basic client_secret_post",
            "How the client shows its secret.",
        ),
        row("oauth.authorization_server_issuer", _S, "The service that issues tokens."),
        row("oauth.callback_url", _S, "The address of the callback."),
        _count("oauth.callback_port", "The port of the callback.", _U16),
        row("enabled", _B, "Whether the server is used."),
        row("required", _B, "Whether a session fails without the server."),
        row(
            "supports_parallel_tool_calls",
            _B,
            "Whether tools of the server may run at the same time.",
        ),
        row("startup_timeout_sec", _F, "Seconds that the server has to start.", minimum=0),
        row("tool_timeout_sec", _F, "Seconds that a tool call may take.", minimum=0),
        _count("startup_timeout_ms", "Milliseconds that the server has to start."),
        row("enabled_tools", _SS, "The only tools of the server that are offered."),
        row("disabled_tools", _SS, "Tools of the server that are not offered."),
        row("scopes", _SS, "Scopes that tokens are asked for."),
        choice(
            "default_tools_approval_mode",
            "auto prompt writes approve",
            "When the user is asked before a tool is called.",
        ),
        row(
            "omit_tools_from",
            _SS,
            "Where the tools are left out.",
            choices=("code_mode", "deferred", "direct"),
        ),
        *TOOL_SETTINGS,
        row(
            "bearer_token",
            _S,
            "Codex rejects it: a token does not belong in a file. `bearer_token_env_var` names a variable.",
            is_secret=True,
        ),
    ),
)

_NO_SEARCH = "The web search is on by default; set `web_search` at the top to `live`, `indexed`, `cached` or `disabled`."
_DEPRECATED_FEATURES: Mapping[str, str] = {
    "multi_agent": "It only controls the older agents; `agents.enabled = false` switches agents off.",
    "use_legacy_landlock": "It will be removed soon.",
    "web_search_request": _NO_SEARCH,
    "web_search_cached": _NO_SEARCH,
    "transcript_v2": "Codex ignores it; use `tui.fullscreen_transcript`.",
    "shell_zsh_fork": "Codex ignores it.",
    "guardianv2.thread_context": "Codex ignores it.",
    **{
        former: _NO_SEARCH
        if present == "web_search_request"
        else f"Codex still obeys it; use `{present}` in `[features]`."
        for former, present in FORMER_FEATURES.items()
    },
}
"""What Codex advises when one of these flags is set, to whatever value."""

_FEATURE_KEYS = (
    row("features", _T, "Feature flags."),
    row("features.*", _B, "A feature flag."),
    *(
        row(
            f"features.{name}",
            _B,
            f"The feature `{name}` ({state}).",
            also=(_T,) if name in TABLE_FEATURES else (),
            rejects_unknown=name in TABLE_FEATURES,
            deprecated=_DEPRECATED_FEATURES.get(name, ""),
        )
        for name, state in FEATURES.items()
        if "." not in name
    ),
    *(
        row(
            f"features.{former}",
            _B,
            f"The former name of `features.{present}`.",
            deprecated=_DEPRECATED_FEATURES[former],
        )
        for former, present in FORMER_FEATURES.items()
    ),
    *FEATURE_TABLES,
)

_TOOL_KEYS = (
    row("tools", _T, "Settings of tools. It can't list tools: an agent can't choose them."),
    row("tools.web_search", _B, "The web search.", also=(_T,)),
    choice(
        "tools.web_search.context_size", "low medium high", "How much of the pages the model gets."
    ),
    row("tools.web_search.allowed_domains", _SS, "The only domains that are searched."),
    row("tools.web_search.location", _T, "Where the user is."),
    row("tools.web_search.location.country", _S, "The country."),
    row("tools.web_search.location.region", _S, "The region."),
    row("tools.web_search.location.city", _S, "The city."),
    row("tools.web_search.location.timezone", _S, "The time zone."),
    row("tools.update_plan", _T, "The tool that keeps a plan.", or_empty_array=True),
    row("tools.update_plan.enabled", _B, "Whether the tool is offered."),
    row(
        "tools.experimental_request_user_input",
        _T,
        "The tool that asks the user.",
        or_empty_array=True,
    ),
    row("tools.experimental_request_user_input.enabled", _B, "Whether the tool is offered."),
    choice("tools.client_search_provider", "standalone search_mcp", "Who searches for tools."),
    row("skills", _T, "Skills.", or_empty_array=True),
    row(
        "skills.config",
        _TT,
        "Skills that are switched on or off; each entry has a `path` or a `name`.",
    ),
    row("skills.config.path", _S, "The skill's SKILL.md, or its folder.", names=Names.FILE),
    row("skills.config.name", _S, "The name of the skill."),
    row("skills.config.enabled", _B, "Whether the skill is offered.", required=True),
    row("skills.include_instructions", _B, "Whether the list of skills is in the prompt."),
    row("skills.bundled", _T, "The skills that Codex brings.", or_empty_array=True),
    row("skills.bundled.enabled", _B, "Whether they are offered."),
    _count("skills.max_context_tokens", "The size of the list of skills, in tokens.", least=1),
    *_FEATURE_KEYS,
    row("hooks", _T, "Commands that Codex executes at events."),
    *(
        key
        for event in HOOK_EVENTS
        for key in table(
            f"hooks.{event}",
            "The hooks of this event.",
            row("matcher", _S, "A pattern of the tools that it is about."),
            *table(
                "hooks",
                "The hooks.",
                choice(
                    "type", "command mcp_tool prompt agent", "The kind of the hook.", required=True
                ),
                row("command", _S, "The command to execute."),
                row("commandWindows", _S, "The command to execute on Windows."),
                row("command_windows", _S, "The command to execute on Windows."),
                row("async", _B, "Whether Codex goes on without the result."),
                _count("additionalContextLimit", "How much context the hook may add."),
                row("server", KeyType.ANY, "The MCP server of the tool."),
                row("tool", KeyType.ANY, "The tool of the MCP server."),
                row("input", KeyType.ANY, "The input of the tool, a table."),
                row("statusMessage", _S, "A text that is shown while the hook runs."),
                _count("timeout", "Seconds that the hook may take."),
                type_=_TT,
                default="[]",
            ),
            type_=_TT,
        )
    ),
)

_COMMAND_KEYS = (
    row("command", _S, "The command.", required=True),
    row("args", _SS, "Its arguments."),
    _count("timeout_ms", "Milliseconds that it may take."),
)

_PROVIDER_KEYS = (
    row("model_providers", _T, "Providers of models, one table each."),
    *table(
        "model_providers.*",
        "One provider. `openai`, `ollama` and `lmstudio` are built in.",
        row(
            "name",
            _S,
            "The name that is shown. Each provider needs one, except for Amazon Bedrock.",
        ),
        row("base_url", _S, "The address of the service."),
        row("env_key", _S, "The environment variable with the key."),
        row("env_key_instructions", _S, "How to get a key."),
        choice("wire_api", "responses", "The wire format."),
        row("http_headers", _MAP, "Headers of each request."),
        row("env_http_headers", _MAP, "Headers whose values environment variables have."),
        row("query_params", _MAP, "Parameters of the address."),
        _count("request_max_retries", "How often a request is sent again."),
        _count("stream_max_retries", "How often a stream that has broken off is resumed."),
        _count("stream_idle_timeout_ms", "Milliseconds without an event that end a stream."),
        _count("websocket_connect_timeout_ms", "Milliseconds that a connection may take."),
        row("requires_openai_auth", _B, "Whether requests carry the login of OpenAI."),
        row("supports_websockets", _B, "Whether the service takes WebSockets."),
        row("supports_standalone_web_search", _B, "Whether the service can search the web."),
        row("auth", _T, "A command that prints a token."),
        row("auth.command", _S, "The command.", required=True),
        row("auth.args", _SS, "Its arguments."),
        row("auth.timeout_ms", KeyType.ANY, "Milliseconds that the command may take."),
        row(
            "auth.refresh_interval_ms",
            KeyType.ANY,
            "Milliseconds after which the command is executed again.",
        ),
        row("auth.cwd", _S, "The working directory of the command."),
        *table(
            "aws",
            "Settings for Amazon Bedrock.",
            row("profile", _S, "The profile of AWS."),
            row("region", _S, "The region."),
            *table("auth_refresh", "A command that renews the login.", *_COMMAND_KEYS),
            *table("credential_export", "A command that prints credentials.", *_COMMAND_KEYS),
        ),
        *table(
            "capabilities",
            "Capabilities of the service.",
            row("cyber_access_programs", _B, "Whether it has programs for security research."),
            row("external_web_access", _B, "Whether its search reaches the web."),
            choice("remote_compaction", "unsupported v2", "How it shortens conversations."),
        ),
        row("credential_file", _S, "A file with credentials."),
        *table(
            "gateway_oauth",
            "The login to a gateway: `credential_export`, or a login by OAuth.",
            row("credential_export", KeyType.ANY_TABLE, "A command that prints credentials."),
            row("authorization_url", _S, "The address where the user agrees."),
            row("device_authorization_url", _S, "The same for devices without a browser."),
            row("token_url", _S, "The address that gives tokens."),
            row("client_id", _S, "The id of the client."),
            row("scopes", _SS, "The rights that are requested."),
            row("resource", _S, "The service that tokens are for."),
            _count("redirect_port", "The local port of the login.", 2**16 - 1, 1),
            choice("credentials_store", "keyring file", "Where tokens are kept."),
            *table(
                "delivery",
                "Where requests carry the token, instead of `Authorization`.",
                choice("kind", "header cookie", "A header or a cookie.", required=True),
                row("name", _S, "The name of the header or cookie.", required=True),
                row("scheme", _S, "The word before the token in a header."),
                rejects_unknown=True,
            ),
            rejects_unknown=True,
        ),
        row("location", _S, "The location of the service, at Google."),
        row("project_id", _S, "The project, at Google."),
        row("model_catalog_url", _S, "The address of a catalog of models."),
        row(
            "experimental_bearer_token",
            _S,
            "A token. It does not belong in a file: `env_key` names a variable.",
            is_secret=True,
        ),
    ),
)

_SESSION_KEYS = (
    row("oss_provider", _S, "The provider of `--oss`."),
    row("chatgpt_base_url", _S, "The address of ChatGPT."),
    row("openai_base_url", _S, "The address of OpenAI's service."),
    row("apps_mcp_product_sku", _S, "The product for which apps are listed."),
    row("mcp_oauth_callback_url", _S, "The address of the callback of OAuth."),
    row("experimental_thread_store_endpoint", _S, "The address of the store of threads."),
    row("experimental_realtime_ws_base_url", _S, "The address of realtime WebSockets."),
    row("experimental_realtime_webrtc_call_base_url", _S, "The address of realtime calls."),
    row("experimental_realtime_ws_model", _S, "The model of realtime conversations."),
    row("experimental_realtime_ws_backend_prompt", _S, "The prompt of realtime conversations."),
    row("experimental_realtime_ws_startup_context", _S, "The context of realtime conversations."),
    row(
        "experimental_realtime_start_instructions",
        _S,
        "The first instructions of realtime conversations.",
    ),
    choice("forced_login_method", "chatgpt api", "The only way to log in."),
    row(
        "forced_chatgpt_workspace_id",
        _S,
        "The only workspaces of ChatGPT that can be logged in to: an id, or an array of ids.",
        also=(_SS,),
    ),
    choice("cli_auth_credentials_store", "file keyring auto ephemeral", "Where logins are kept."),
    choice(
        "mcp_oauth_credentials_store", "auto file keyring", "Where logins to MCP servers are kept."
    ),
    choice(
        "file_opener",
        "vscode vscode-insiders windsurf cursor none",
        "The editor that links to files open.",
    ),
    _count("mcp_oauth_callback_port", "The port of the callback of OAuth.", _U16),
    _count(
        "mcp_optional_startup_grace_ms", "Milliseconds that optional MCP servers have to start."
    ),
    _count("background_terminal_max_timeout", "Milliseconds that a background command may take."),
    _count("thread_unload_delay_secs", "Seconds after which an idle thread is unloaded."),
    _count("project_doc_max_bytes", "The size of AGENTS.md that is read, in bytes."),
    _count("tool_output_token_limit", "The size of a tool's output, in tokens."),
    row("sqlite_home", _S, "The folder of the database."),
    row("log_dir", _S, "The folder of logs."),
    row("js_repl_node_path", _S, "The Node program of the JavaScript tool."),
    row("js_repl_node_module_dirs", _SS, "The folders of its modules."),
    row("notify", _SS, "A command that is executed at events."),
    row("project_doc_fallback_filenames", _SS, "Files that are read where AGENTS.md is missing."),
    row("project_root_markers", _SS, "Names that mark the root of a project.", default='[".git"]'),
    *rows(
        _B,
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
            "daybreak": "Whether the models of the Daybreak program are used.",
        },
    ),
    row(
        "experimental_use_unified_exec_tool",
        _B,
        "Whether one tool executes all commands.",
        deprecated="Codex still obeys it; use `unified_exec` in `[features]`.",
    ),
    row("responses_api_metadata", _MAP, "Metadata of each request."),
)

_AGENTS_TABLE = (
    row("agents", _T, "Agents that Codex can spawn, and settings for all of them."),
    row("agents.enabled", _B, "Whether agents can be spawned.", default="true"),
    row(
        "agents.interrupt_message",
        _B,
        "Whether an agent that is interrupted gets a message about it.",
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
    row(
        "agents.max_depth", _I, "How deep agents may spawn agents.", minimum=-_I32 - 1, maximum=_I32
    ),
    row("agents.default_subagent_model", _S, "The model of agents that name none."),
    row(
        "agents.default_subagent_reasoning_effort",
        _S,
        "The effort of agents that name none.",
        suggestions=EFFORTS,
    ),
    _count("agents.job_max_runtime_seconds", "It has no effect any more."),
    row("agents.*", _T, "One agent, by its name.", unknown_below=_IN_ROLE_FILE),
    row(
        "agents.*.description",
        _S,
        "When to use the agent. The file's own description is preferred.",
    ),
    row(
        "agents.*.config_file",
        _S,
        "The agent's file. The path starts at the folder of this config.toml.",
        names=Names.FILE,
    ),
    row(
        "agents.*.nickname_candidates",
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
    *SESSION_TABLES,
    *_AGENTS_TABLE,
)


def _since(key: KeySpec) -> KeySpec:
    """Return a row with the version that its key came with, where the key is newer than the oldest recorded version."""
    version = _NEW.get(key.path[:1]) or _NEW.get(key.path[:2])
    return replace(key, since=f"Codex {version}") if version else key


_NEW = {tuple(dotted.split(".")): version for dotted, version in SINCE.items()}


def _in_config(keys: Iterable[KeySpec]) -> Iterator[KeySpec]:
    return (replace(key, no_effect="") if key.no_effect else key for key in keys)


_PROFILE_KEYS = frozenset(
    [
        "analytics",
        "approval_policy",
        "approvals_reviewer",
        "chatgpt_base_url",
        "experimental_compact_prompt_file",
        "experimental_use_unified_exec_tool",
        "features",
        "include_apps_instructions",
        "include_collaboration_mode_instructions",
        "include_environment_context",
        "include_environment_context_time",
        "include_permissions_instructions",
        "js_repl_node_module_dirs",
        "js_repl_node_path",
        "model",
        "model_catalog_json",
        "model_instructions_file",
        "model_provider",
        "model_reasoning_effort",
        "model_reasoning_summary",
        "model_verbosity",
        "oss_provider",
        "personality",
        "plan_mode_reasoning_effort",
        "sandbox_mode",
        "service_tier",
        "tools",
        "tui",
        "web_search",
        "windows",
    ]
)


def _profiles(keys: Iterable[KeySpec]) -> Iterator[KeySpec]:
    """Yield the keys of `[profiles.NAME]`, an older form whose values are still checked: of `[tui]` one, of single flags their type."""
    for key in keys:
        if key.path[0] in _PROFILE_KEYS and not _is_left_out_of_profiles(key):
            path = ("profiles", ANY_NAME, *key.path)
            yield replace(key, path=path, names=None, deprecated="", no_effect="")


def _is_left_out_of_profiles(key: KeySpec) -> bool:
    name, *inner = key.path
    if name == "tui":
        return bool(inner) and inner != ["session_picker_view"]
    return name == "features" and bool(inner) and inner[0] not in (ANY_NAME, *TABLE_FEATURES)


def _of_project(key: KeySpec) -> KeySpec | None:
    """Return the row of a key in a project's config.toml: any value does where Codex takes the key out; None below it."""
    ends = range(1, len(key.path) + 1) if key.path[0] in _TABLES_WITH_IGNORED else ()
    ignored = next((end for end in ends if key.path[:end] in _IGNORED), None)
    if ignored is None:
        return key
    if ignored < len(key.path):
        return None
    return row(key.dotted, KeyType.ANY, key.doc, no_effect=_USERS_ONLY, since=key.since)


_IGNORED = frozenset(tuple(each.split(".")) for each in IGNORED_IN_PROJECTS)
_TABLES_WITH_IGNORED = frozenset(path[0] for path in _IGNORED)
_USERS_ONLY = "Codex takes it only from the user's own config.toml, usually ~/.codex/config.toml."

_ALL_KEYS = tuple(map(_since, _KEYS))
_OF_CONFIG = (*_CONFIG_KEYS, *_in_config(_ALL_KEYS))
_OF_PROFILES = tuple(_profiles(_ALL_KEYS))

CODEX_AGENT = Schema(
    "Codex agent file",
    (*_AGENT_KEYS, *_ALL_KEYS, *_OF_PROFILES),
    program="Codex",
    rejects_unknown=True,
    has_dates_as_text=True,
    empty_is_absent=False,
)

CODEX_USER_CONFIG = Schema(
    "Codex config.toml of the user",
    (*_OF_CONFIG, *_OF_PROFILES),
    program="Codex",
    has_dates_as_text=True,
    empty_is_absent=False,
)

CODEX_PROJECT_CONFIG = Schema(
    "Codex config.toml",
    tuple(each for key in _OF_CONFIG if (each := _of_project(key)) is not None),
    program="Codex",
    has_dates_as_text=True,
    empty_is_absent=False,
)
