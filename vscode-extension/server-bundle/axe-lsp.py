"""Starts the language server that lies beside this file, with the Python that runs it.

It is started isolated (`python -I`), so that nothing of a workspace and of the user is imported instead.
"""

import os
import sys

here = os.path.dirname(os.path.abspath(__file__))
packages = [os.path.join(here, "cp%d%d" % sys.version_info[:2]), os.path.join(here, "any")]
sys.path[:0] = packages
# For the process that makes the runs, which is the same Python.
os.environ["PYTHONPATH"] = os.pathsep.join(packages)

from axe_lsp.cli.main import main  # noqa: E402

sys.exit(main())
