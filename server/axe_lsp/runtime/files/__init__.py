"""The files that the runtime reads: folders, agent files, context files, the user's config.toml."""
