"""What the runtime reads from the disk: folders, agent files, context files, the user's config.toml."""
