"""The tools that an agent file may list, one module each; `table` knows them all."""
