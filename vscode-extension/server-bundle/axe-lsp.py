"""Starts the language server that lies beside this file, with the Python that runs it.

It is started isolated (`python -I`), so that nothing of a workspace and of the user is imported instead.
"""

import os
import sys
from pathlib import Path

here = Path(__file__).resolve().parent
major, minor = sys.version_info[:2]
packages = [str(here / f"cp{major}{minor}"), str(here / "any")]
sys.path[:0] = packages
# For the process that makes the runs, which is the same Python.
os.environ["PYTHONPATH"] = os.pathsep.join(packages)

from axe_lsp.__main__ import main  # noqa: E402  it is found only now

sys.exit(main())
