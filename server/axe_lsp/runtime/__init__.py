"""Agents at work. No LSP, no editor, no processes.

To be read from the top down: `engine` makes runs, `agent_run` takes one from its beginning to its end, `prepare` and `prompt`
say what its model is told, `loop` sends and runs tools, `conversation` decides what comes next. `runs`, `messages` and
`events` are the data that all of them hold. What else a run needs has folders by subject.
"""
