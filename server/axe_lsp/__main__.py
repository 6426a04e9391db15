"""The program `axe-lsp`, which is also `python -m axe_lsp`.

Its first statements let Ctrl-C end the process as the system does, without a traceback. They use the module that is
built into Python, as `signal` takes milliseconds to import.
"""

import _signal  # type: ignore[import-not-found, unused-ignore]

if _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler:
    _signal.signal(_signal.SIGINT, _signal.SIG_DFL)

import sys

from axe_lsp.cli import end_on_interrupt

end_on_interrupt()

from axe_lsp.cli.main import main as _main  # noqa: E402


def main() -> int:
    """Execute the command of this process. Return the exit code."""
    try:
        return _main()
    finally:
        end_on_interrupt()  # Python still waits for threads and deletes modules.


if __name__ == "__main__":
    sys.exit(main())
