"""How fast axe-lsp is, beside its peers in the same run. Run by `axe-lsp bench`, not by pytest.

Absolute times say more about the machine than about axe-lsp, so everything is measured in rounds in
which each contender has its turn, and read as ratios of medians. Nothing here fails on a time.

One module per table: start, keystrokes, workspaces, requests, endurance, checking, runs, and so on. They measure with
`client` (a lean LSP client), `timing` and `peers_environment`, on files of `agents`; `results` shows
what they found.
"""
