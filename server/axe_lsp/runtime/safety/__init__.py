"""What agents may do and what must not leak: questions to people, standing allowances, secrets."""
