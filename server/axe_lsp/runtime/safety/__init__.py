"""The rights of agents and the protection of secrets: approvals, allow rules, trust, redaction."""
