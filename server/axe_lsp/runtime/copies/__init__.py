"""Copies of folders in which called agents work (`[isolation] mode = "copy"`): made, read, applied, deleted."""
