"""What all connections share: the workspace, the disk, the settings in force, the runs."""
