"""Names that Codex knows: models with their efforts, feature flags, hook events. They change with each release.

A test compares them with `tests/recorded/codex/names-*.json`, which the refresh of recorded cases writes.
"""

from __future__ import annotations

from collections.abc import Mapping

VERSION = "0.171"
"""The version whose keys, names and messages the tables and rules of Codex have."""

EFFORTS = ("low", "medium", "high", "xhigh", "max", "ultra")
"""All efforts of the bundled models, the least first."""

MODELS: Mapping[str, tuple[str, ...]] = {
    "gpt-6.2-sol": EFFORTS,
    "gpt-6.2-astra": EFFORTS,
    "gpt-6-astra": EFFORTS,
    "gpt-6.1-sol": EFFORTS,
    "gpt-6.1-terra": EFFORTS,
    "gpt-6-sol": EFFORTS,
    "gpt-6-luna": EFFORTS[:5],
    "gpt-5.6-sol": EFFORTS,
    "gpt-5.6-terra": EFFORTS,
    "gpt-5.6-luna": EFFORTS[:5],
    "gpt-daybreak-blue-latest": EFFORTS,
    "gpt-daybreak-red-latest": EFFORTS,
    "gpt-5.5": EFFORTS[:4],
    "codex-auto-review": EFFORTS[:5],
}
"""The bundled models, each with its efforts."""

BUILT_IN_AGENTS = ("default", "explorer", "worker")
"""A file of such a name replaces the agent."""

HOOK_EVENTS = (
    "PreModelRequest",
    "PreToolUse",
    "PermissionRequest",
    "PostToolUse",
    "PreCompact",
    "PostCompact",
    "SessionStart",
    "SessionEnd",
    "UserPromptSubmit",
    "SubagentStart",
    "SubagentStop",
    "Stop",
    "Interrupt",
)

_STATES = {
    "stable": """
        api_key_cyber_access_programs api_key_model_discovery apps auth_elicitation
        bedrock_setup_wizard browser_annotation_api browser_use browser_use_external
        browser_use_full_cdp_access cli_daybreak code_mode_host code_mode_host_grpc
        code_mode_host_output_truncation code_mode_interrupt compaction_image_budget computer_use
        content_item_kinds daemon_auto_start deferred_tool_world_state enable_request_compression
        fast_mode gateway_setup_wizard gcp_setup_wizard goals guardian_approval
        guardian_include_additional_context guardian_reuse_parent_compaction hooks image_generation
        in_app_browser in_app_chat in_app_dictation in_app_local_automation in_app_updates
        in_app_voice incremental_tools incremental_tools_legacy incremental_tools_legacy_gcp
        mcp_oauth_refresh_coordination memories mentions_v2 multi_agent_v2 plugin_sharing plugins
        prediction_preserve_parent_tools reasoning_effort_override recommended_plugins
        remote_plugin retain_client_tool_outputs secret_auth_storage shell_snapshot shell_tool
        skill_mcp_dependency_install skill_search sleep_tool suppress_model_change_announcements
        system_proxy_fallback tool_call_mcp_elicitation tool_suggest tui_workspace ultrafast_mode
        unbounded_connection_retries unified_exec unified_exec_tty unified_image_budget
        untrusted_as_tool_output view_image workspace_dependencies write_stdin_approval
    """,
    "experimental": """
        analytics_plan_history login_shell_package_path network_proxy prevent_idle_sleep
        respect_system_proxy tui_extensions_statusline
    """,
    "under development": """
        agent_message_board agent_message_board_mcp app_server_websocket_compression
        apply_patch_streaming_events apps_early_resource_discovery artifact async_compaction
        async_compaction_root_only background_paginated_rollout_migration catalog_apps_instructions
        chronicle cli_resume_account_check code_mode code_mode_only code_mode_only_strict_3p_tools
        code_mode_prewarm code_mode_tool_search codex_apps_mcp_2026_07_28
        command_sessions_world_state concurrent_reasoning_summaries context_management
        credential_masking critical_path_timing current_time_reminder cwd_relative_turn_diffs
        daybreak_program_propagation default_mode_request_user_input defer_mailbox_preemption
        deferred_executor enable_mcp_apps exec_permission_approvals executed_tool_call_metadata
        executor_capability_discovery executor_capability_discovery_v2 external_agent_memory_import
        file_backed_tool_audio guardian_conversation_history_tools guardian_denial_reconsideration
        guardian_enhanced_node_repl_transcripts guardian_native_multi_agent_history
        guardian_nested_approval_context guardian_node_repl_transcript_images
        guardian_recorded_items guardian_root_handoff_context
        guardian_trust_orchestrator_connectors guardianv2 guardianv2_decisions_comparison
        guardianv3 hosted_search_policy image_generation_animation image_resize_notice
        incremental_exec_tools instant_interrupt interrupt_on_cancel local_thread_store_compression
        mcp_2026_07_28 mcp_connection_sharing mcp_lazy_stdio_startup mcp_shared_repl_cwd
        mcp_tool_list_changed model_catalog_in_context multi_agent_v2_dynamic_tools
        multi_env_copy_file multi_environment_mcp non_prefixed_mcp_tool_names
        nonfatal_clock_read_errors omit_app_server_notification_media omit_skill_descriptions
        output_token_replay per_environment_context powershell_shell_version prefer_mxc psp
        request_permissions_tool restored_history_prewarm retain_client_developer_messages
        rollout_budget runtime_agent_instances runtime_metrics safe_image_decoder
        send_message_to_user_async shell_snapshot_v2 simplified_selection_hints
        skill_catalog_deltas skip_host_skill_discovery standalone_web_search step_model_switching
        subagent_default_context_limits subagent_thread_environments
        terminal_visualization_instructions token_budget tui_multi_backend use_agent_identity
        use_xaa utc_environment_date wake_on_agent_messages windows_sandbox_service
    """,
    "deprecated": """
        multi_agent use_legacy_landlock web_search_cached web_search_request
    """,
    "removed": """
        apply_patch_freeform apply_patch_preserve_line_endings apps_mcp_path_override
        code_mode_buffered_exec code_mode_tool_description_first codex_git_commit
        collaboration_modes elevated_windows_sandbox enable_fanout experimental_windows_sandbox
        external_migration guardian_ext guardianv2.thread_context image_detail_original item_ids
        js_repl js_repl_tools_only local_thread_store_shared_compression multi_agent_mode
        personality plugin_discovery_prefetch plugin_hooks realtime_conversation
        remote_compaction_v2 remote_control remote_models request_rule resize_all_images
        responses_websockets responses_websockets_v2 search_tool send_async_message shell_zsh_fork
        skill_env_var_dependency_prompt sqlite stable_environment_tools steer
        terminal_resize_reflow tool_search tool_search_always_defer_mcp_tools transcript_v2
        tui_app_server unavailable_dummy_tools undo unified_exec_zsh_fork use_linux_sandbox_bwrap
        workspace_owner_usage_nudge worktrees
    """,
}

FEATURES: Mapping[str, str] = {
    name: state for state, names in _STATES.items() for name in names.split()
}
"""The feature flags, each with its state."""

SINCE: Mapping[str, str] = dict.fromkeys(
    [
        "code_mode",
        "responses",
        "rollout_trace",
        "features.catalog_apps_instructions",
        "features.file_backed_tool_audio",
        "features.guardian_nested_approval_context",
        "features.mcp_shared_repl_cwd",
        "features.multi_environment_mcp",
        "features.per_environment_context",
        "features.restored_history_prewarm",
        "features.safe_image_decoder",
        "features.utc_environment_date",
    ],
    "0.171",
)
"""The version with which a key came, for keys that the oldest recorded version (0.169) does not have."""

TABLE_FEATURES = (
    "apps_mcp_path_override",
    "async_compaction",
    "code_mode",
    "code_mode_host",
    "context_management",
    "current_time_reminder",
    "guardianv2",
    "guardianv3",
    "multi_agent_v2",
    "network_proxy",
    "non_prefixed_mcp_tool_names",
    "rollout_budget",
    "runtime_agent_instances",
    "sleep_tool",
    "token_budget",
)
"""The feature flags that can also be tables."""

FORMER_FEATURES: Mapping[str, str] = {
    "codex_hooks": "hooks",
    "collab": "multi_agent",
    "connectors": "apps",
    "enable_experimental_windows_sandbox": "experimental_windows_sandbox",
    "experimental_use_unified_exec_tool": "unified_exec",
    "imagegenext": "image_generation",
    "memory_tool": "memories",
    "request_permissions": "exec_permission_approvals",
    "telepathy": "chronicle",
    "web_search": "web_search_request",
}
"""Former names of feature flags, which Codex still obeys, each with its present name."""

IGNORED_IN_PROJECTS = (
    "model_provider",
    "notify",
    "model_providers",
    "profile",
    "profiles",
    "chatgpt_base_url",
    "apps_mcp_product_sku",
    "responses_api_metadata",
    "openai_base_url",
    "experimental_realtime_ws_base_url",
    "experimental_realtime_webrtc_call_base_url",
    "otel",
    "features.credential_masking",
    "features.network_proxy.credentials",
    "features.network_proxy.credential_broker",
    "features.multi_agent_v2.message_board_remote",
)
"""The keys that Codex takes out of the config.toml of a project before it looks at their types."""

SERVICE_TIERS = ("default", "fast", "flex", "priority")
"""The service tiers of the bundled models."""
