"""Tables of Codex's config.toml that concern a whole session: the interface, telemetry, memories, apps, features.

Recorded with Codex 0.171: each key was tried below its table in the program itself, with a value that fits no key.
"""

from __future__ import annotations

from axe_lsp.agentfile.schema.key_spec import KeyType, below, choice, count, row, rows, table

_S, _I, _B = KeyType.STRING, KeyType.INTEGER, KeyType.BOOLEAN
_SS, _T, _TT = KeyType.STRINGS, KeyType.TABLE, KeyType.TABLES
_MAP, _OPEN, _ANY = KeyType.STRING_TABLE, KeyType.ANY_TABLE, KeyType.ANY

_U32, _U64 = 2**32 - 1, 2**63 - 1
_APPROVALS = "auto prompt writes approve"
_REVIEWERS = "user auto_review guardian_subagent"
_VOICES = """
    alloy arbor ash aube ballad breeze bubbie cedar coral cove echo ember haetsal hanul himari juniper
    leher maple marin miko neer porto rindo rio rivage sage selva shimmer sol sonna spruce tinta vale
    verse viola
"""
_EXPORTERS = ("none", "statsig", "otlp-http", "otlp-grpc")

_KEYMAP = {
    "global": """
        change_host choose_cloud_environment clear_terminal close_sidebar_tab copy
        equalize_pane_widths find_transcript focus_activity focus_main_composer focus_pane_left
        focus_pane_right focus_sidebar_content focus_sidebar_tabs hide_pane leader
        maximize_pane_width minimize_pane_width move_divider_left move_divider_right open_agents
        open_external_editor open_transcript queue resize_panes select_transcript sidebar_down
        sidebar_up submit toggle_fast_mode toggle_pane_zoom toggle_raw_output toggle_shortcuts
        toggle_side_conversation toggle_vim_mode
    """,
    "chat": """
        decrease_reasoning_effort edit_queued_message increase_reasoning_effort interrupt_turn
        next_permission_mode open_presets previous_permission_mode prompt_stack_back
        skip_question toggle_voice toggle_voice_mute
    """,
    "composer": """
        history_search_next history_search_previous queue redo submit toggle_shortcuts undo
    """,
    "editor": """
        delete_backward delete_backward_word delete_forward delete_forward_word insert_newline
        kill_line_end kill_line_start kill_whole_line move_down move_left move_line_end
        move_line_start move_right move_up move_word_left move_word_right yank
    """,
    "list": """
        accept cancel jump_bottom jump_top move_down move_left move_right move_up page_down
        page_up
    """,
    "pager": """
        close close_transcript find half_page_down half_page_up jump_bottom jump_top mark_markdown
        page_down page_up scroll_down scroll_up
    """,
    "approval": """
        approve approve_for_prefix approve_for_session cancel decline deny open_fullscreen
        open_thread
    """,
    "agents": """
        archive delete fork hide new_task new_worktree rename resume search stop toggle_grouping
        toggle_pin
    """,
    "vim_normal": """
        append_after_cursor append_line_end cancel_operator change_to_line_end delete_char
        delete_to_line_end enter_insert enter_replace_mode find_backward find_forward
        insert_line_start jump_bottom jump_top move_down move_left move_line_end move_line_start
        move_right move_up move_word_backward move_word_end move_word_forward open_line_above
        open_line_below paste_after redo repeat_last_change replace_char start_change_operator
        start_delete_operator start_yank_operator substitute_char till_backward till_forward
        undo yank_line
    """,
    "vim_operator": """
        cancel delete_line motion_down motion_find_backward motion_find_forward
        motion_jump_bottom motion_jump_top motion_left motion_line_end motion_line_start
        motion_right motion_till_backward motion_till_forward motion_up motion_word_backward
        motion_word_end motion_word_forward select_around_text_object select_inner_text_object
        yank_line
    """,
    "vim_search": """
        backward forward next previous
    """,
    "vim_text_object": """
        backtick big_word braces brackets cancel double_quote parentheses single_quote word
    """,
}
"""The contexts of key bindings, each with all its actions."""

_TLS = (
    row("tls", _T, "Certificates."),
    row("tls.ca-certificate", _S, "The file of the authority's certificate."),
    row("tls.client-certificate", _S, "The file of the client's certificate."),
    row("tls.client-private-key", _S, "The file of the client's private key."),
)

_EXPORTER_KEYS = tuple(
    key
    for signal, exported in (
        ("exporter", "logs"),
        ("trace_exporter", "traces"),
        ("metrics_exporter", "metrics"),
    )
    for key in (
        choice(
            signal,
            " ".join(_EXPORTERS),
            f"Where {exported} are sent: a word, or a table of one.",
            also=(_T,),
        ),
        *table(
            f"{signal}.otlp-http",
            "An OpenTelemetry collector by HTTP.",
            row("endpoint", _S, "Its address.", required=True),
            choice("protocol", "binary json", "The encoding.", required=True),
            row("headers", _MAP, "Headers of each request."),
            *_TLS,
        ),
        *table(
            f"{signal}.otlp-grpc",
            "An OpenTelemetry collector by gRPC.",
            row("endpoint", _S, "Its address.", required=True),
            row("headers", _MAP, "Headers of each request."),
            *_TLS,
        ),
    )
)

_TOOLS_APPROVAL = choice(
    "default_tools_approval_mode", _APPROVALS, "When the user is asked before a tool is called."
)
TOOL_SETTINGS = (
    row("tools", _T, "Settings of single tools."),
    row("tools.*", _T, "Settings of one tool.", or_empty_array=True),
    choice(
        "tools.*.approval_mode", _APPROVALS, "When the user is asked before the tool is called."
    ),
    count(
        "tools.*.output_token_limit", "The size of the tool's output, in tokens.", 1, maximum=_U64
    ),
)
_APP_KEYS = (
    choice("approvals_reviewer", _REVIEWERS, "Who answers questions about approvals."),
    _TOOLS_APPROVAL,
    *rows(
        _B,
        {
            "enabled": "Whether the app is used.",
            "default_tools_enabled": "Whether its tools are offered.",
            "destructive_enabled": "Whether tools may destroy something.",
            "open_world_enabled": "Whether tools may reach other systems.",
        },
    ),
    row("omit_tools_from", _SS, "Where the tools are left out."),
    row("links", _T, "Links of the app."),
    row("links.*", _OPEN, "One link.", or_empty_array=True),
    *TOOL_SETTINGS,
    row("tools.*.enabled", _B, "Whether the tool is offered."),
)

_ACCESS = "allow deny"
_ORIGIN_KEYS = (
    choice("access", _ACCESS, "Whether pages may be opened."),
    choice("downloads", _ACCESS, "Whether files may be downloaded."),
    choice("uploads", _ACCESS, "Whether files may be uploaded."),
    choice("full_cdp_access", _ACCESS, "Whether the whole protocol for debuggers may be used."),
)
_CONTROL_KEYS = (
    *table(
        "browser_use",
        "The use of a browser.",
        row("allow_history_access", _B, "Whether the history may be read."),
        *table("default_origin_policy", "The rights on pages without a row.", *_ORIGIN_KEYS),
        row("origins", _T, "Rights by origin."),
        *table("origins.*", "The rights on the pages of one origin.", *_ORIGIN_KEYS),
    ),
    *table(
        "computer_use",
        "The use of a computer.",
        choice("default_app_access", _ACCESS, "Whether programs without a row may be used."),
        row("macos", _T, "On macOS."),
        row("macos.bundle_ids", _T, "Programs by bundle id."),
        choice("macos.bundle_ids.*", _ACCESS, "Whether the program may be used."),
        row("windows", _T, "On Windows."),
        row("windows.aumids", _T, "Programs by application user model id."),
        choice("windows.aumids.*", _ACCESS, "Whether the program may be used."),
        *table(
            "windows.exes",
            "Programs by what their file says of itself.",
            row("publisher_name", _S, "The publisher.", required=True),
            row("product_name", _S, "The product.", required=True),
            row("binary_name", _S, "The file."),
            choice("access", _ACCESS, "Whether the program may be used.", required=True),
            type_=_TT,
        ),
    ),
    row("cloud", _T, "Codex in the cloud."),
    row("cloud.skills", _T, "Skills."),
    row("cloud.skills.enabled", _B, "Whether they are offered."),
    row("orchestrator", _T, "The orchestrator."),
    row("orchestrator.mcp", _T, "Its MCP servers."),
    row("orchestrator.mcp.enabled", _B, "Whether they are used."),
    row("orchestrator.skills", _T, "Its skills."),
    row("orchestrator.skills.enabled", _B, "Whether they are used."),
)
"""Tables of what Codex may control."""

SESSION_TABLES = (
    row("desktop", _OPEN, "Settings of the desktop app."),
    row("profiles", _T, "Profiles, an older form."),
    row("profiles.*", _T, "One profile."),
    row("history", _T, "The history of sessions.", or_empty_array=True),
    choice("history.persistence", "save-all none", "The part that is kept."),
    count("history.max_bytes", "The size of the history, in bytes.", maximum=_U64),
    row("otel", _T, "OpenTelemetry."),
    *below(
        "otel",
        row("environment", _S, "The environment that traces are marked with.", default='"dev"'),
        row("headers_helper", _S, "A command that prints headers.", since="Codex 0.171"),
        row("log_user_prompt", _B, "Whether prompts are in traces."),
        *rows(
            _B,
            {
                "log_sse_deltas": "Whether the events of streams are in traces.",
                "log_agent_responses": "Whether answers are in traces.",
                "log_guardian_assessments": "Whether reviews of approvals are in traces.",
            },
        ),
        count(
            "headers_helper_refresh_interval_ms",
            "Milliseconds after which it runs again.",
            1,
            maximum=_U64,
        ),
        row("tool_result", _T, "Results of tools in traces.", or_empty_array=True),
        count("tool_result.max_bytes", "Their size, in bytes.", maximum=_U64),
        row("span_attributes", _MAP, "Attributes of each span."),
        row("tracestate", _T, "Members of the trace state."),
        row("tracestate.*", _MAP, "The fields of one member."),
        *_EXPORTER_KEYS,
    ),
    row("projects", _T, "Decisions of the user about projects."),
    row("projects.*", _T, "One project, by its path."),
    choice(
        "projects.*.trust_level",
        "trusted untrusted",
        "Whether Codex reads the project's own configuration.",
    ),
    row("tui", _T, "The terminal interface.", or_empty_array=True),
    *below(
        "tui",
        choice(
            "alternate_screen",
            "auto always never",
            "Whether the interface has a screen of its own.",
        ),
        row("notifications", _B, "Whether the terminal notifies, or of which events.", also=(_SS,)),
        choice("notification_method", "auto osc9 osc777 bel", "How the terminal notifies."),
        choice("notification_condition", "unfocused always", "When the terminal notifies."),
        choice("pet_anchor", "composer screen-bottom", "Where the pet sits."),
        choice("session_picker_view", "comfortable dense", "The layout of the list of sessions."),
        row("pet", _S, "The pet that is shown."),
        row("theme", _S, "The theme of highlighted code."),
        row("status_line", _SS, "The items of the status line."),
        row("status_line_provider", _ANY, "The provider of the status line.", since="Codex 0.171"),
        row("terminal_title", _SS, "The items of the title of the terminal."),
        count(
            "terminal_resize_reflow_max_rows",
            "Rows that are drawn again after a resize.",
            maximum=_U64,
        ),
        *rows(
            _B,
            {
                "animations": "Whether there are animations.",
                "disable_paste_burst": "Whether pasted text is taken as typed text.",
                "fullscreen_transcript": "Whether the transcript fills the screen.",
                "raw_output_mode": "Whether output is shown as it is.",
                "show_tooltips": "Whether hints are shown.",
                "status_line_use_colors": "Whether the status line has colors.",
                "vim_mode_default": "Whether input begins in Vim's normal mode.",
                "whimsy": "Whether the interface may be playful.",
            },
        ),
        choice(
            "agents_overview_grouping", "project status model", "How the list of agents is grouped."
        ),
        row("effects", _T, "Effects.", or_empty_array=True),
        *(
            row(f"effects.{each}", _B, "Whether there is this effect.")
            for each in ("effort", "progress", "shimmer", "starfield", "title", "welcome")
        ),
        row("rendering", _T, "How answers are drawn.", or_empty_array=True),
        *(
            row(f"rendering.{each}", _B, f"Whether {each} are drawn.")
            for each in ("lists", "math", "mermaid", "tables")
        ),
        choice("resume_cwd", "current session", "The working folder of a session that is resumed."),
        row("model_availability_nux", _T, "How often news of models were shown."),
        count("model_availability_nux.*", "How often news of a model were shown.", maximum=_U32),
        row(
            "keymap",
            _T,
            "Key bindings, such as `ctrl-a`, by context and action.",
            or_empty_array=True,
        ),
    ),
    *(
        key
        for context, actions in _KEYMAP.items()
        for key in (
            row(
                f"tui.keymap.{context}",
                _T,
                "The key bindings of one context.",
                or_empty_array=True,
            ),
            *(
                row(f"tui.keymap.{context}.{action}", _S, "A key binding, or several.", also=(_SS,))
                for action in actions.split()
            ),
        )
    ),
    *table("analytics", "Analytics.", row("enabled", _B, "Whether they are sent.")),
    *table("feedback", "Feedback.", row("enabled", _B, "Whether it can be sent.")),
    *table(
        "memories",
        "Memories.",
        choice("version", "v1 v2", "Their version."),
        *rows(
            _B,
            {
                "use_memories": "Whether they are used.",
                "generate_memories": "Whether they are written.",
                "dedicated_tools": "Whether there are tools for them.",
                "disable_on_external_context": "Whether none are made of sessions with foreign content.",
                "dual_write": "Whether they are written twice.",
                "no_memories_if_mcp_or_web_search": "The former name of `disable_on_external_context`.",
            },
        ),
        row("extract_model", _S, "The model that finds them."),
        row("consolidation_model", _S, "The model that sums them up."),
        row("consolidation_service_tier", _S, "The service tier of that model."),
        count(
            "max_raw_memories_for_consolidation", "How many are summed up at once.", maximum=_U64
        ),
        count("max_rollouts_per_startup", "Sessions that are read at a start.", maximum=_U64),
        *rows(
            _I,
            {
                "max_rollout_age_days": "The age of the sessions that are read, in days.",
                "max_unused_days": "Days after which an unused memory is dropped.",
                "min_rate_limit_remaining_percent": "The part of the rate limit that has to be left.",
                "min_rollout_idle_hours": "Hours that a session has to be idle.",
            },
        ),
    ),
    row("goals", _T, "Goals."),
    count("goals.max_goal_token_budget", "The tokens of a goal.", 1, maximum=_U64),
    *table(
        "auto_review",
        "The automatic review of approvals.",
        row("policy", _S, "Its policy."),
        choice("circuit_break_action", "default strict", "The reaction to many refusals."),
        row("experimental_conversation_history_prompt", _S, "A prompt for the history."),
        count(
            "conversation_history_max_output_tokens", "The tokens of its answer.", 1, maximum=_U64
        ),
        count("timeout_ms", "Milliseconds that it may take.", maximum=_U32),
    ),
    row("apps", _T, "Apps."),
    *table("apps.*", "One app, or `_default` for all.", *_APP_KEYS, or_empty_array=True),
    row("plugins", _T, "Plugins."),
    *table(
        "plugins.*",
        "One plugin.",
        row("enabled", _B, "Whether the plugin is used."),
        row("auto_provision", _B, "Whether it is installed by itself."),
        row("release_id", _S, "The release in use."),
        row("remote_plugin_id", _S, "The id of the plugin where it comes from."),
        row("apps", _T, "Settings of its apps."),
        *table("apps.*", "Settings of one app.", *_APP_KEYS, or_empty_array=True),
        row("mcp_servers", _T, "Settings of its MCP servers."),
        *table(
            "mcp_servers.*",
            "Settings of one MCP server.",
            row("enabled", _B, "Whether the server is used."),
            _TOOLS_APPROVAL,
            row("enabled_tools", _SS, "The only tools of the server that are offered."),
            row("disabled_tools", _SS, "Tools of the server that are not offered."),
            *TOOL_SETTINGS,
            or_empty_array=True,
        ),
        or_empty_array=True,
    ),
    row("marketplaces", _T, "Marketplaces of plugins."),
    *table(
        "marketplaces.*",
        "One marketplace.",
        choice("source_type", "git local", "The kind of its source."),
        row("source", _S, "Where it comes from."),
        row("ref", _S, "The branch or tag of a repository."),
        row("sparse_paths", _SS, "The folders of the repository that are fetched."),
        row("last_revision", _S, "The revision in use."),
        row("last_updated", _S, "When it was updated."),
        row("auto_update", _B, "Whether it is updated by itself."),
        or_empty_array=True,
    ),
    *table(
        "windows",
        "Windows.",
        choice("sandbox", "elevated unelevated mxc", "The sandbox."),
        row("allow_mxc", _B, "Whether the sandbox may be of the kind mxc."),
    ),
    *table(
        "notice",
        "Notices that the user has seen.",
        *rows(
            _B,
            {
                "hide_full_access_warning": "Whether the warning about full access is hidden.",
                "hide_world_writable_warning": "Whether the warning about open folders is hidden.",
                "hide_rate_limit_model_nudge": "Whether the hint about another model is hidden.",
                "hide_gpt5_1_migration_prompt": "Whether the question about a newer model is hidden.",
                "hide_gov_cloud_guidance": "Whether the hint about clouds of governments is hidden.",
                "fast_default_opt_out": "Whether the fast tier is not the default.",
            },
        ),
        row("model_migrations", _MAP, "Models, and the models that took their place."),
        *table(
            "external_config_migration_prompts",
            "Questions about other programs' settings.",
            row("home", _B, "Whether the question about the user's settings is left out."),
            row("home_last_prompted_at", _I, "When it was asked."),
            row("projects", _T, "Projects whose question is left out."),
            row("projects.*", _B, "Whether it is left out."),
            row("project_last_prompted_at", _T, "When it was asked, by project."),
            row("project_last_prompted_at.*", _I, "When it was asked."),
        ),
    ),
    *table(
        "ghost_snapshot",
        "Snapshots of the workspace. Codex makes none any more.",
        row("disable_warnings", _B, "Whether warnings about them are left out."),
        *rows(
            _I,
            dict.fromkeys(
                (
                    "ignore_large_untracked_files",
                    "ignore_large_untracked_dirs",
                    "ignore_untracked_files_over_bytes",
                    "large_untracked_dir_warning_threshold",
                ),
                "A limit of what they contain.",
            ),
        ),
    ),
    *table(
        "audio",
        "Audio devices.",
        row("microphone", _S, "The microphone."),
        row("microphone_channel", _ANY, "The channel of the microphone."),
        row("speaker", _S, "The loudspeaker."),
    ),
    *table(
        "realtime",
        "Realtime conversations.",
        choice("version", "v1 v2 v3", "The version of the protocol."),
        choice("type", "conversational transcription", "The kind of session."),
        choice("transport", "webrtc websocket", "The transport."),
        choice("voice", _VOICES, "The voice."),
    ),
    *_CONTROL_KEYS,
    *table(
        "tool_suggest",
        "Suggestions of tools.",
        *table(
            "discoverables",
            "The tools that can be suggested.",
            choice("type", "connector plugin", "The kind.", required=True),
            row("id", _S, "The id.", required=True),
            type_=_TT,
        ),
        *table(
            "disabled_tools",
            "The tools that are not suggested.",
            choice("type", "connector plugin", "The kind.", required=True),
            row("id", _S, "The id.", required=True),
            type_=_TT,
        ),
        or_empty_array=True,
    ),
    *table(
        "mcp_enterprise_managed_auth",
        "Logins that an enterprise manages.",
        row("idp", _T, "The service that identifies users.", required=True, rejects_unknown=True),
        row("idp.issuer", _S, "Its address.", required=True),
        row("idp.client_id", _S, "The id of the client.", required=True),
        row("idp.client_secret", _S, "The secret of the client.", is_secret=True),
        choice(
            "idp.token_endpoint_auth_method",
            "client_secret_basic client_secret_post",
            "How the client shows its secret.",
        ),
    ),
    row("experimental_thread_store", _T, "The store of threads."),
    choice(
        "experimental_thread_store.type", "local in_memory", "The kind of the store.", required=True
    ),
    row("experimental_thread_store.id", _S, "The id of a store in memory."),
    *table(
        "code_mode",
        "The mode in which the model writes programs.",
        count("heartbeat_interval_s", "Seconds between two signs of life.", maximum=_U32),
    ),
    *table(
        "responses",
        "Answers of the model.",
        choice("process_mode", "streaming after_complete_response", "When an answer is taken in."),
    ),
    *table(
        "rollout_trace",
        "Traces of a session.",
        count("max_bytes", "The size of a trace, in bytes.", maximum=_U64),
        count("max_payload_bytes", "The size of an entry, in bytes.", maximum=_U64),
    ),
)

_PROXY_KEYS = (
    *rows(
        _B,
        {
            "enabled": "Whether it is on.",
            "enable_socks5": "Whether SOCKS 5 is offered.",
            "enable_socks5_udp": "Whether SOCKS 5 carries UDP.",
            "transparent_tcp": "Whether connections are taken over unasked.",
            "allow_upstream_proxy": "Whether another proxy may follow.",
            "allow_local_binding": "Whether commands may listen on the machine itself.",
            "dangerously_allow_non_loopback_proxy": "Whether others can use the proxy.",
            "dangerously_allow_all_unix_sockets": "Whether all Unix sockets can be reached.",
        },
    ),
    row("proxy_url", _S, "The address of the proxy."),
    row("socks_url", _S, "The address for SOCKS."),
    choice("mode", "limited full", "Which requests are allowed."),
    row("domains", _T, "Hosts, and whether they can be reached."),
    choice("domains.*", "allow deny", "Whether the host can be reached."),
    row("unix_sockets", _T, "Unix sockets, and whether they can be reached."),
    choice("unix_sockets.*", "allow deny", "Whether the socket can be reached."),
)
"""The keys that the network of a permission profile and the feature `network_proxy` have in common."""

_U16 = 2**16 - 1

_SCOPE_KEYS = (
    count("port", "The port of the requests.", maximum=_U16),
    count("max_body_bytes", "The size of a body that is changed, in bytes.", maximum=_U64),
)
_REQUEST_KEYS = (
    row("host", _S, "The host of the requests.", required=True),
    row("methods", _SS, "Their methods.", required=True),
    row("path_prefixes", _SS, "The beginnings of their paths.", required=True),
    row("schemes", _SS, "Their schemes."),
    row("ports", _ANY, "Their ports, an array of numbers."),
    row("query", _OPEN, "Arrays of the values of their parameters, by name."),
    row("headers", _OPEN, "Arrays of the values of their headers, by name."),
    row("body", _ANY, "Reserved for a future release of Codex."),
    row("action", _SS, "The names of the actions."),
)
_ACTION_KEYS = (
    row("strip_request_headers", _SS, "Headers that are taken out."),
    *table(
        "inject_request_headers",
        "Headers that are added.",
        row("name", _S, "The header."),
        row("prefix", _S, "A text before the secret value."),
        row("placeholder", _S, "The text that stands for the secret value."),
        row("secret_env_var", _S, "The environment variable with the secret value."),
        row("secret_file", _S, "The file with the secret value."),
        type_=_TT,
        rejects_unknown=True,
    ),
    *table(
        "body_secret_substitution",
        "Secret values in place of placeholders, in bodies.",
        row("replacements", _TT, "Placeholders.", required=True),
        row("replacements.placeholder", _S, "The text that is replaced.", required=True),
        row("replacements.secret", _ANY, "Where the secret value is.", required=True),
        *_SCOPE_KEYS,
        rejects_unknown=True,
    ),
    *table(
        "aws_sigv4",
        "Signatures of Amazon.",
        row("placeholder_access_key_id", _S, "The id that is replaced.", required=True),
        row("region", _S, "The region.", required=True),
        row("service", _S, "The service.", required=True),
        row("access_key_id", _ANY, "Where the id of the key is.", required=True),
        row("secret_access_key", _ANY, "Where the secret key is.", required=True),
        row("session_token", _ANY, "Where the token of a session is."),
        *_SCOPE_KEYS,
        rejects_unknown=True,
    ),
)

NETWORK_KEYS = (
    *_PROXY_KEYS,
    *table(
        "mitm",
        "Requests that the proxy changes.",
        row("version", _I, "The version of this table.", minimum=2, maximum=2),
        row("hooks", _T, "Requests."),
        *table(
            "hooks.*", "Requests, and the actions for them.", *_REQUEST_KEYS, rejects_unknown=True
        ),
        row("actions", _T, "Actions."),
        *table("actions.*", "Changes of requests.", *_ACTION_KEYS, rejects_unknown=True),
        rejects_unknown=True,
    ),
)

_ON = row("enabled", _B, "Whether the feature is on.")
_TOKENS = "The largest number of tokens of this part of the input."
_SECTION_KEYS = (
    count(
        "min_total_section_tokens", "The least tokens of the section.", maximum=_U64, required=True
    ),
    count("max_section_entry_tokens", "The most tokens of an entry.", maximum=_U64, required=True),
    count("max_total_section_tokens", "The most tokens of the section.", maximum=_U64),
    row("nested_tool_names", _SS, "Tools within programs that the section is about."),
)
_GUARDIAN_TABLES = (
    *(
        key
        for sections in ("async_elastic_sections", "sync_elastic_sections")
        for key in (
            row(sections, _T, "Sections of the input whose size is fitted to the context."),
            *table(f"{sections}.*", "One section.", *_SECTION_KEYS, rejects_unknown=True),
        )
    ),
    *table(
        "review_scope",
        "The scope of the review.",
        row("computer_use_only", _B, "Whether only the use of the computer is reviewed."),
        row("sandboxed_exec_commands", _B, "Whether commands in the sandbox are reviewed."),
        rejects_unknown=True,
    ),
    *table(
        "transcript",
        "The conversation in the input.",
        row(
            "sources", _SS, "The parts of it.", choices=("tool_calls", "tool_outputs", "reasoning")
        ),
        row("include_images", _B, "Whether images are among it."),
        count("max_recent_non_user_entries", "The number of recent entries.", maximum=_U64),
        *(
            count(f"max_{each}_tokens", _TOKENS, maximum=_U64)
            for each in ("message_entry", "tool_entry", "message_transcript", "tool_transcript")
        ),
        rejects_unknown=True,
    ),
)

FEATURE_TABLES = (
    *below("features.apps_mcp_path_override", _ON, row("path", _S, "It has no effect any more.")),
    *below(
        "features.async_compaction",
        _ON,
        count(
            "model_async_compact_threshold_percent",
            "How full the context is, in percent, when it begins.",
        ),
    ),
    *below(
        "features.code_mode",
        _ON,
        row("experimental_show_cell_overhead", _B, "Whether the time of each cell is shown."),
        count(
            "default_exec_yield_time_ms", "Milliseconds after which a program yields.", maximum=_U64
        ),
        count(
            "tool_input_schema_max_bytes", "The size of a tool's schema, in bytes.", maximum=_U64
        ),
        row("excluded_tool_namespaces", _SS, "Namespaces of tools that programs can't call."),
        row("direct_only_tool_namespaces", _SS, "Namespaces of tools that only the model calls."),
    ),
    *below(
        "features.code_mode_host",
        _ON,
        row("disable_in_process_fallback", _B, "Whether programs need a process of their own."),
    ),
    *below("features.context_management", row("experimental_mode", _B, "Whether it is on.")),
    *below(
        "features.current_time_reminder",
        _ON,
        count("reminder_interval_seconds", "Seconds between two reminders.", maximum=_U64),
        choice("clock_source", "system external", "The clock."),
        choice(
            "delivery_mode",
            "any_inference after_user_or_tool_output",
            "When the reminder is sent.",
        ),
        row("sleep_tool", _B, "Whether there is a tool that waits."),
    ),
    *below(
        "features.guardianv2",
        _ON,
        *rows(
            _B,
            dict.fromkeys(
                (
                    "async_elastic_budgeting",
                    "sync_elastic_budgeting",
                    "free_guardian",
                    "thread_context",
                    "persist_scores",
                    "reuse_parent_compaction",
                ),
                "A setting of the review of approvals.",
            ),
        ),
        *_GUARDIAN_TABLES,
        choice("async_classifier_mode", "conversation", "How the classifier works."),
        row("transcript_mode", _S, "The input of the classifier."),
        row("classifier_instructions", _S, "Instructions of the classifier."),
        row("reasoning_effort", _S, "How much the model thinks."),
        count(
            "async_classifier_conversation_token_limit", "Tokens of the conversation.", maximum=_U64
        ),
        count("max_tool_call_lag", "Tool calls that a review may be behind.", maximum=_U64),
        row(
            "review_threshold",
            KeyType.FLOAT,
            "The score from which on an approval is reviewed.",
            minimum=0,
            maximum=1,
        ),
        *(
            count(f"max_{each}_tokens", _TOKENS, maximum=_U64)
            for each in ("action", "classifier_instruction", "parent_compaction")
        ),
    ),
    *below("features.guardianv3", _ON),
    *below(
        "features.multi_agent_v2",
        _ON,
        *rows(
            _B,
            {
                "usage_hint_enabled": "Whether the model gets a hint how to use agents.",
                "preserve_fork_prefix": "Whether a fork keeps the beginning of its parent.",
                "hide_spawn_agent_metadata": "Whether details of spawned agents are hidden.",
                "expose_spawn_agent_model_overrides": "Whether the model can choose models of agents.",
                "wait_agent_enabled": "Whether there is a tool that waits for agents.",
                "interrupt_at_item_boundary": "Whether an interruption waits for the end of an item.",
                "disable_native_tools": "Whether the built-in tools are left out.",
                "disable_direct_message": "Whether agents can't write to each other.",
                "message_board_in_memory": "Whether the message board is in memory.",
                "non_code_mode_only": "Whether agents are for sessions without code mode.",
            },
        ),
        row("usage_hint_text", _S, "The hint."),
        row("root_agent_usage_hint_text", _S, "The hint of the first agent."),
        row("subagent_usage_hint_text", _S, "The hint of spawned agents."),
        row("subagent_developer_instructions", _S, "Instructions of spawned agents."),
        row("multi_agent_mode_hint_text", _S, "The hint about the mode."),
        row("tool_namespace", _S, "The namespace of the tools."),
        *table(
            "message_board_remote",
            "A message board on another machine.",
            row("url", _S, "Its address.", required=True),
            row("bearer_token", _S, "The token for it.", is_secret=True),
            row("bearer_token_env_var", _S, "The environment variable with the token."),
            rejects_unknown=True,
        ),
        count(
            "max_concurrent_threads_per_session",
            "How many agents work at the same time.",
            1,
            maximum=_U64,
        ),
        *(
            count(
                f"{which}_wait_timeout_ms",
                "Milliseconds that an agent is waited for.",
                maximum=3_600_000,
            )
            for which in ("min", "default", "max")
        ),
    ),
    *below(
        "features.network_proxy",
        *_PROXY_KEYS,
        row("credentials", _OPEN, "Credentials that the proxy adds."),
        row("credential_broker", _B, "Whether a broker has the credentials."),
    ),
    *below("features.non_prefixed_mcp_tool_names", _ON, row("server_names", _SS, "The servers.")),
    *below(
        "features.rollout_budget",
        _ON,
        row("enforce_limit", _B, "Whether a session ends at the limit."),
        row("limit_tokens", _I, "The tokens of a session."),
        row("limit_budget", KeyType.FLOAT, "The budget of a session."),
        row("reminder_at_context_start", _B, "Whether a context begins with a reminder."),
        row(
            "reminder_at_remaining_tokens",
            _ANY,
            "The numbers of remaining tokens at which there is a reminder.",
        ),
        row("sampling_token_weight", KeyType.FLOAT, "The weight of tokens of answers."),
        row("prefill_token_weight", KeyType.FLOAT, "The weight of tokens that are sent."),
    ),
    *below(
        "features.runtime_agent_instances",
        _ON,
        choice("mode", "dual_header assertion_only", "How agents identify themselves."),
    ),
    row(
        "features.tool_registry",
        _T,
        "The registry of tools.",
        rejects_unknown=True,
    ),
    *below(
        "features.tool_registry",
        row("error_on_tool_collisions", _B, "Whether two tools of one name are an error."),
        row("turn_metadata_includes_tool_info", _B, "Whether turns carry the tools."),
    ),
    *below(
        "features.sleep_tool",
        _ON,
        choice("mode", "always_on model_driven", "When the tool is offered."),
    ),
    *below(
        "features.token_budget",
        _ON,
        row("use_history_notes_extension", _B, "Whether notes are kept of the history."),
        row(
            "context_window_as_tool_output", _B, "Whether a tool tells what is left of the context."
        ),
        count(
            "reminder_threshold_tokens",
            "The remaining tokens at which there is a reminder.",
            maximum=_U64,
        ),
        row("reminder_message_template", _S, "The reminder."),
        row("guidance_message", _S, "Advice to the model."),
        row("auto_compact_fallback_prompt", _S, "The prompt of a compaction that is forced."),
        count(
            "auto_compact_fallback_buffer_tokens",
            "The tokens that are kept free for it.",
            maximum=_U64,
        ),
    ),
)
"""The keys of the feature flags that can be tables. Codex does not start with another key in one of them."""
