"""`axe-lsp bench`: the way to the benchmarks, where there are any."""

from __future__ import annotations

from pathlib import Path

import pytest

from axe_lsp.cli.bench import NOT_HERE, main


@pytest.mark.process
def test_help_of_benchmarks_lists_their_parts(
    capfd: pytest.CaptureFixture[str],
) -> None:
    assert main(["--help"]) == 0
    out = capfd.readouterr().out
    assert out.startswith("usage: axe-lsp bench")
    assert "keystrokes" in out


def test_an_installed_package_says_where_the_benchmarks_are(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([], checkout=tmp_path) == NOT_HERE
    assert "clone the repository" in capsys.readouterr().err
    assert main(["--help"], checkout=tmp_path) == 0
    assert "clone the repository" in capsys.readouterr().err
