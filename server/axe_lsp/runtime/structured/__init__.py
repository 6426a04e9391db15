"""Objects instead of text: what `[input]`, `[output]` and `response_format` declare, as JSON Schemas."""
