"""`python -m axe_lsp` is `axe-lsp`."""

from __future__ import annotations

import sys

from axe_lsp.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
