"""Every key of a Mistral Vibe agent file, one row each.

Facts are those of mistral-vibe 3.0.3: `AgentProfile.from_toml`, and `VibeConfigSchema`, whose keys an agent
overrides. Vibe takes a text for a number or a switch if it reads as one (`"1"`, `"yes"`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec.structs import replace

from axe_lsp.agentfile.schema.key_spec import (
    KeySpec,
    KeyType,
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
_MAP, _OPEN, _ANY = KeyType.STRING_TABLE, KeyType.ANY_TABLE, KeyType.ANY

_LIKE: dict[KeyType, tuple[KeyType, ...]] = {_I: (_F, _B, _S), _F: (_B, _S), _B: (_I, _F, _S)}
"""Types that Vibe takes for another one, if the value reads as one; `check/vibe.py` looks at that."""

THINKING = ("off", "low", "medium", "high", "xhigh", "max")
SAFETY = ("safe", "neutral", "destructive", "smart", "yolo")
AGENT_TYPES = ("agent", "subagent")
BUILT_IN_AGENTS = ("ask", "accept-edits", "smart-approve", "auto-approve", "explore", "lean")
RESERVED_NAME = "main"
"""A name that no agent file may have, in any case."""

_PATTERNS = "Names, globs, or expressions after `re:`."
_STRIPPED = "Vibe ignores it in an agent, since it says where keys are sent."
_RETIRED = "Vibe does not use it any more."


RETIRED: Mapping[str, object] = {
    "auto_approve": False,
    "experiment_overrides": {},
    "experimental_bash_tool": False,
    "vibe_code_api_key_env_var": "MISTRAL_API_KEY",
    "vibe_code_enabled": True,
    "vim_keybindings": False,
    "context_warnings": False,
    "raise_on_compaction_failure": False,
    "include_model_info": True,
    "include_prompt_detail": True,
    "displayed_workdir": "",
}
"""Settings that Vibe has dropped, each with its former default, of which Vibe says nothing."""

_RETIRED_ROWS = (
    "context_warnings",
    "raise_on_compaction_failure",
    "include_model_info",
    "include_prompt_detail",
    "displayed_workdir",
)
"""Those of them whose types Vibe still checks."""

FORMER_TOOLS: Mapping[str, str] = {"search_replace": "edit"}
"""Former names of tools, each with its present name."""

_SHELLS = ("bash", "git_bash", "powershell")
_OF_ALL_TOOLS = ("permission", "allowlist", "denylist", "sensitive_patterns", "outside_workdir")
_OF_SHELLS = (
    "max_output_bytes",
    "default_timeout",
    "max_timeout_seconds",
    "denylist_standalone",
    "max_inline_bytes",
    "max_poll_seconds",
)

TOOL_SETTINGS: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("edit", "skill", "ask_user_question"), _OF_ALL_TOOLS),
    "bash": (*_OF_ALL_TOOLS, *_OF_SHELLS),
    "grep": (
        *_OF_ALL_TOOLS,
        "max_output_bytes",
        "default_max_matches",
        "default_timeout",
        "exclude_patterns",
    ),
    "read_file": (*_OF_ALL_TOOLS, "max_read_bytes"),
    "write_file": (*_OF_ALL_TOOLS, "max_write_bytes", "create_parent_dirs"),
    "web_fetch": (
        *_OF_ALL_TOOLS,
        "default_timeout",
        "max_timeout",
        "max_content_bytes",
        "user_agent",
    ),
    "web_search": (*_OF_ALL_TOOLS, "timeout", "model"),
    "task": _OF_ALL_TOOLS,
    "todo": (*_OF_ALL_TOOLS, "max_todos"),
}
"""The settings of Vibe's own tools, as far as they do not depend on the platform."""

TOOLS_WITHOUT_EFFECT: Mapping[str, str] = {
    "grep": "there is no such tool any more; searches in the shell follow `tools.bash`",
    "task": "Vibe starts subagents with a built-in tool",
}
"""Tools of whose settings none is read, each with the reason."""

TOOL_SETTINGS_WITHOUT_EFFECT: Mapping[str, Mapping[str, object]] = {
    "read_file": {"max_read_bytes": 51200},
    "write_file": {"max_write_bytes": 64_000, "create_parent_dirs": True},
    "web_fetch": {
        "default_timeout": 30,
        "max_timeout": 120,
        "max_content_bytes": 512000,
        "user_agent": None,
    },
    "web_search": {"model": None, "timeout": 120},
}
"""Single settings that are not read, each with its default."""

TOOL_NAMES = (*TOOL_SETTINGS, *_SHELLS[1:], *(f"{shell}_output" for shell in _SHELLS))
"""The names of tools that lists can have."""


_AGENT_KEYS = (
    row("display_name", _S, "The name that is shown.", also=(_ANY,), default="from the file name"),
    row(
        "description",
        _S,
        "The purpose of the agent. Vibe offers a subagent to other agents only if it has one.",
        also=(_ANY,),
    ),
    row(
        "safety",
        _S,
        "How the agent is marked. It gives and takes no permissions.",
        choices=SAFETY,
        default='"neutral"',
    ),
    row(
        "agent_type",
        _S,
        "`agent` for a mode that a person chooses, `subagent` for an agent that other agents call.",
        choices=AGENT_TYPES,
        default='"agent"',
    ),
    row("instructions", _S, "The instructions of the agent: its system prompt.", also=(_ANY,)),
)

_MODEL_TABLE = (
    row("name", _S, "The model, as the provider names it."),
    row("provider", _S, "The provider, by its name in `providers`."),
    row("alias", _S, "The name by which `active_model` means the model."),
    row("display_name", _S, "The name that is shown."),
    row("temperature", _F, "The sampling temperature.", default="0.2"),
    row("top_p", _F, "Nucleus sampling."),
    row("max_output_tokens", _I, "The most tokens of an answer.", minimum=1),
    row("input_price", _F, "Dollars for a million tokens that are sent.", default="0"),
    row("output_price", _F, "Dollars for a million tokens of answers.", default="0"),
    row("cached_input_price", _F, "Dollars for a million tokens from the cache."),
    row(
        "thinking",
        _S,
        "How much the model thinks. Another word is left out.",
        suggestions=THINKING,
        also=(_ANY,),
        default='"off"',
    ),
    row("thinking_levels", _SS, "The levels that the model offers.", also=(_ANY,)),
    row("supports_images", _B, "Whether the model reads pictures."),
    row("max_context_length", _I, "The size of the context window, in tokens.", minimum=1),
    row(
        "auto_compact_threshold",
        _I,
        "The number of tokens at which the conversation is compacted.",
        minimum=1,
    ),
)


_MODEL_KEYS = (
    row("active_model", _S, "The model, by its alias in `models`.", default="the session's"),
    row("models", _TT, "Models, one table each; or tables by alias.", also=(_OPEN,)),
    *below("models", *_MODEL_TABLE),
    row("models.*", _OPEN, "A model by its alias.", also=(_ANY,)),
    *table(
        "providers",
        "Providers of models. One of the same name is replaced.",
        row("name", _S, "The name of the provider.", required=True),
        row("api_base", _S, "The address of the service.", required=True),
        row("api_key_env_var", _S, "The environment variable with the key."),
        row("browser_auth_base_url", _S, "The address of the login."),
        row("browser_auth_api_base_url", _S, "The address that the login asks."),
        row("reasoning_field_name", _S, "The field of answers with the model's reasoning."),
        row("project_id", _S, "The project, at Google."),
        row("region", _S, "The region, at Google."),
        row("api_style", _S, "The wire format.", default='"openai"'),
        choice(
            "backend", "mistral generic", "The client that sends requests.", default='"generic"'
        ),
        row(
            "browser_auth_allow_origin_rewrite",
            _B,
            "Whether a login may move to another address.",
            default="false",
        ),
        row("emits_finish_reason", _B, "Whether streams say how they ended.", default="true"),
        row("extra_headers", _MAP, "Headers of each request."),
        type_=_TT,
    ),
    row("allowed_models", _SS, f"The only models that can be chosen. {_PATTERNS}"),
    *table("compaction_model", "The model that compacts conversations.", *_MODEL_TABLE),
    *table(
        "vision_model",
        "The model that describes pictures for a model that can't see them.",
        *_MODEL_TABLE,
    ),
    row("utility_models", _T, "Models for small tasks, by alias; `active` is the agent's own."),
    row("utility_models.title", _S, "Titles of sessions."),
    row("utility_models.smart_approve", _S, "The approval of tool calls."),
    row(
        "auto_compact_threshold",
        _I,
        "The number of tokens at which a conversation is compacted, for models without their own.",
        minimum=1,
    ),
)

_SPOKEN = (
    ("transcribe", "Speech to text", ("sample_rate", "target_streaming_delay_ms"), ("language",)),
    ("tts", "Text to speech", (), ("voice",)),
)
_SPEECH_KEYS = tuple(
    key
    for kind, title, numbers, texts in _SPOKEN
    for key in (
        row(f"active_{kind}_model", _S, f"{title}: the model, by its alias."),
        *table(
            f"{kind}_providers",
            f"{title}: providers.",
            row("name", _S, "The name of the provider.", required=True),
            row("api_base", _S, "The address of the service."),
            row("api_key_env_var", _S, "The environment variable with the key."),
            choice("client", "mistral", "The client."),
            type_=_TT,
        ),
        *table(
            f"{kind}_models",
            f"{title}: models.",
            row("name", _S, "The model, as the provider names it.", required=True),
            row("provider", _S, "The provider, by its name.", required=True),
            row("alias", _S, "The name by which it is chosen."),
            *(row(name, _I, "A setting of the model.") for name in numbers),
            *(row(name, _S, "A setting of the model.") for name in texts),
            *(
                [choice("encoding", "pcm_s16le", "The encoding.")]
                if numbers
                else [
                    choice("response_format", "wav pcm mp3 flac opus", "The format of the sound.")
                ]
            ),
            type_=_TT,
        ),
    )
)

_TOOL_KEYS = (
    row("tools", _T, "Settings of tools, one table each.", also=(_ANY,)),
    row("tools.*", _OPEN, "Settings of one tool.", also=(_ANY,)),
    row(
        "tools.*.permission",
        _S,
        "Whether a call of the tool is asked for.",
        suggestions=("always", "ask", "never"),
        also=(_ANY,),
    ),
    row("enabled_tools", _SS, f"The only tools of the agent. {_PATTERNS}", suggestions=TOOL_NAMES),
    row(
        "disabled_tools",
        _SS,
        f"Tools that the agent does not have. {_PATTERNS}",
        suggestions=TOOL_NAMES,
    ),
    row("bypass_tool_permissions", _B, "Whether tools are called without asking.", default="false"),
    choice(
        "outside_workdir",
        "ask deny",
        "The effect of a tool that reaches a path outside the working directory.",
        default='"ask"',
    ),
    *table(
        "mcp_servers",
        "MCP servers. One of the same name is replaced.",
        row("name", _S, "The name, with which its tools begin.", required=True),
        choice(
            "transport", "stdio http streamable-http", "How the server is reached.", required=True
        ),
        row("command", _S, "The program to start.", also=(_SS,)),
        row("args", _SS, "The arguments of the program."),
        row("env", _MAP, "Environment variables of the program."),
        row("cwd", _S, "The working directory of the program."),
        row("prompt", _S, "A hint for the model, added to the tools."),
        row("url", _S, "The address of the server."),
        row("api_key_env", _S, "The environment variable with a token."),
        row("api_key_header", _S, "The header that has the token."),
        row("api_key_format", _S, "The header's value, with `{token}` for the token."),
        row("headers", _MAP, "Headers of each request."),
        row("auth", _OPEN, "How the client shows who it is."),
        row("startup_timeout_sec", _F, "Seconds that the server has to start.", default="10"),
        row("tool_timeout_sec", _F, "Seconds that a tool call may take.", default="60"),
        row("sampling_enabled", _B, "Whether the server may ask the model.", default="true"),
        row("disabled", _B, "Whether the tools of the server are hidden.", default="false"),
        row("disabled_tools", _SS, "Tools of the server that are not offered."),
        type_=_TT,
    ),
    *table(
        "connectors",
        "Settings of connectors.",
        row("name", _S, "The connector.", required=True),
        row("disabled", _B, "Whether its tools are hidden.", default="false"),
        row("disabled_tools", _SS, "Tools that are not offered."),
        type_=_TT,
    ),
)

_LISTS = (
    row("tool_paths", _SS, "Folders and files with further tools."),
    row("agent_paths", _SS, "Folders with further agents."),
    row("enabled_agents", _SS, f"The only agents that are available. {_PATTERNS}"),
    row("disabled_agents", _SS, f"Agents that are not available. {_PATTERNS}"),
    row("installed_agents", _SS, "Built-in agents that have been installed."),
    row("skill_paths", _SS, "Folders with further skills."),
    row("enabled_skills", _SS, f"The only skills that are available. {_PATTERNS}"),
    row("disabled_skills", _SS, f"Skills that are not available. {_PATTERNS}"),
    row("applied_migrations", _SS, "Changes that Vibe has made to the file."),
)

_SWITCHES = (
    *rows(
        _B,
        {
            "enable_connectors": "Whether connectors are used.",
            "enable_mcp": "Whether MCP servers are used.",
            "enable_auto_approve": "Whether the mode that approves everything is available.",
            "enable_background_processes": "Whether commands may go on in the background.",
            "enable_subagents": "Whether the agent may call subagents.",
            "cursor_blink": "Whether the cursor blinks.",
            "show_greeting": "Whether a greeting is shown.",
            "autocopy_to_clipboard": "Whether a selection is copied.",
            "enable_mouse_capture": "Whether the mouse is used.",
            "file_watcher_for_autocomplete": "Whether files are watched for completion.",
            "ask_confirmation_on_exit": "Whether leaving is asked for.",
            "show_thinking_nodes": "Whether the model's thoughts are shown.",
            "show_subagent_status_list": "Whether the list of subagents is shown.",
            "enable_telemetry": "Whether telemetry is sent.",
            "include_commit_signature": "Whether commits are signed by Vibe.",
            "include_project_context": "Whether the prompt describes the project.",
            "enable_update_checks": "Whether updates are looked for.",
            "enable_auto_update": "Whether updates are installed.",
            "enable_notifications": "Whether notifications are shown.",
            "experimental_enable_tab_status": "Whether the tab shows the state.",
        },
        default="true",
    ),
    *rows(
        _B,
        {
            "experimental_enable_document_library_connector": "Whether the document library is used.",
            "experimental_enable_registry_skills": "Whether skills of the registry are used.",
            "experimental_enable_model_catalog": "Whether the catalog of models is read.",
            "experimental_enable_pr_monitoring": "Whether pull requests are watched.",
            "experimental_enable_pr_discovery": "Whether pull requests are looked for.",
            "smart_approve_available": "Whether the mode `smart-approve` is offered.",
            "smart_approve_default": "Whether `smart-approve` is the first mode.",
            "enable_otel": "Whether traces are sent.",
            "disable_welcome_banner_animation": "Whether the banner is shown without animation.",
            "voice_mode_enabled": "Whether there is voice input.",
            "narrator_enabled": "Whether answers are spoken.",
            "managed_shell_tools_enabled": "Whether the managed shell is used.",
            "strict_config": "Whether unknown keys are refused.",
            "enable_system_trust_store": "Whether certificates of the system count.",
        },
        default="false",
    ),
    row("context_warnings", _B, _RETIRED),
    row("raise_on_compaction_failure", _B, _RETIRED),
    row("include_model_info", _B, _RETIRED),
    row("include_prompt_detail", _B, _RETIRED),
)

_TEXTS = (
    row("routed_default_model", _S, "The default model of an experiment."),
    row("catalog_recommended_model", _S, "The model that the catalog recommends."),
    row("default_agent", _S, "The mode in which a session starts."),
    row("system_prompt_id", _S, "The system prompt, by the name of its file."),
    row("compaction_prompt_id", _S, "The prompt of compaction, by the name of its file."),
    row("title_prompt_id", _S, "The prompt for titles, by the name of its file."),
    row("otel_endpoint", _S, "The address that traces are sent to."),
    row("theme", _S, "The theme."),
    row("displayed_workdir", _S, _RETIRED),
    choice(
        "otel_redaction",
        "default none strict",
        "The data that traces leave out.",
        default='"default"',
    ),
    row("log_level", _S, "`DEBUG`, `INFO`, `WARNING`, `ERROR` or `CRITICAL`."),
    row("vibe_base_url", _S, "The address of Vibe.", no_effect=_STRIPPED, also=(_ANY,)),
    row("console_base_url", _S, "The address of the console.", no_effect=_STRIPPED, also=(_ANY,)),
    row(
        "vibe_code_sessions_base_url",
        _S,
        "The address of sessions.",
        no_effect=_STRIPPED,
        also=(_ANY,),
    ),
)

_NUMBERS = (
    count("worktree_limit", "The most worktrees that are kept.", maximum=100),
    row("max_subagents", _I, "The most subagents at once.", minimum=1, default="32"),
    row(
        "max_concurrent_subagents",
        _I,
        "The most subagents that work at once.",
        minimum=1,
        default="32",
    ),
    count(
        "compaction_reasoning_limit_tokens",
        "The most tokens of reasoning in a compaction; 0 for no limit.",
    ),
    count("output_limit_retries", "How often a cut answer is asked for again."),
    row("api_timeout", _F, "Seconds for a request."),
    row("api_retry_max_elapsed_time", _F, "Seconds in which a request is sent again."),
    row("api_connect_timeout", _F, "Seconds for a connection."),
    row("api_write_timeout", _F, "Seconds for sending."),
    row("api_pool_timeout", _F, "Seconds for a free connection."),
    row("api_stream_idle_timeout", _F, "Seconds of silence in an answer.", minimum=0),
)

_GROUPS = (
    row("project_context", _T, "The text of the prompt about the project."),
    row("project_context.default_commit_count", _I, "How many commits it has."),
    row("project_context.timeout_seconds", _F, "Seconds for finding out."),
    *table(
        "session_logging",
        "Logs of sessions.",
        row("save_dir", _S, "Their folder."),
        row("session_prefix", _S, "How their names begin."),
        row("enabled", _B, "Whether they are kept.", default="true"),
        row("generate_titles", _B, "Whether they get titles.", default="true"),
    ),
    *table(
        "experiments",
        "Experiments.",
        row("enable", _B, "Whether they are on.", default="true"),
        row("api_host", _S, "Their address."),
        row("client_key", _S, "Their key."),
    ),
    row("routed_model_config", _ANY, "The model of an experiment."),
    row("routed_extra_models", _ANY, "Models of experiments."),
    row("catalog_model_aliases", _OPEN, "Other names of models."),
)

_FORMER = (
    row("base_disabled", _ANY, "Former name of `disabled_tools`; Vibe rewrites the file."),
    *(row(name, _ANY, _RETIRED) for name in RETIRED if name not in _RETIRED_ROWS),
)

_KEYS = (
    *_MODEL_KEYS,
    *_TOOL_KEYS,
    *_LISTS,
    *_SWITCHES,
    *_TEXTS,
    *_NUMBERS,
    *_GROUPS,
    *_SPEECH_KEYS,
    *_FORMER,
)


def _schema(name: str, keys: Iterable[KeySpec]) -> Schema:
    rows = (replace(key, since="Vibe", also=key.also or _LIKE.get(key.type, ())) for key in keys)
    return Schema(name, tuple(rows), program="Vibe", empty_is_absent=False)


VIBE_AGENT = _schema("Vibe agent file", (*_AGENT_KEYS, *_KEYS))

VIBE_CONFIG = _schema("Vibe config.toml", (replace(key, no_effect="") for key in _KEYS))
