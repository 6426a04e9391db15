"""The tools that an agent file may list, one module each; `tool_table` knows them all."""
