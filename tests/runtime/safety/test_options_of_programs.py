"""Every option of common programs: one that runs a program or writes somewhere is never allowed by `CMD *`.

`options_of_programs.tsv.xz` has a line for each option: program, option, and the beginning of its description. It
is what the programs print about themselves on Debian 12 (`--help`, `git SUBCOMMAND -h`), with pytest, ruff and mypy
from PyPI. An option is suspicious if its description has one of the words of `SUSPICIOUS`.
"""

from __future__ import annotations

import lzma
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from axe_lsp.runtime.safety.allowances import CheckedCall, is_allowed
from axe_lsp.runtime.safety.command_table import GIT, PROGRAMS, RUNNERS, options_of

RECORDED = Path(__file__).with_name("options_of_programs.tsv.xz")

SUSPICIOUS = re.compile(
    r"\b(exec(ut\w*)?|runs?|programs?|editor|pager|shell|scripts?|hooks?|plugins?|writ\w+|sav\w+|delet\w+"
    r"|remov\w*|compress\w*|creat\w+|uploads?|send|install|invoke|overwrit\w*|append to"
    r"|(output|log|report|dump|outfile|result).*\b(file|path|director(y|ies)|folder)\b"
    r"|to (a |the |given )?(file|path)|config\w*)\b",
    re.IGNORECASE,
)

HARMLESS = {
    "ctest": (
        "--build-nocmake --build-two-config --force-new-ctest-process --label-regex "
        "--no-compress-output --output-on-failure --repeat --repeat-until-fail --rerun-failed "
        "--show-only --tests-information --tests-regex -C -I -L -N -R"
    ),
    "df": "--type -t -x",
    "diff": "--ed -e",
    "du": "--all -a",
    "file": "--apple",
    "git add": "--chmod --dry-run --ignore-missing -n",
    "git check-attr": "--all -a",
    "git config": "--local --show-origin --show-scope",
    "git diff": "--dirstat --quiet --relative --summary -D",
    "git fetch": "--dry-run --force -a -f",
    "git grep": "--max-count -m",
    "git log": "--dirstat --relative --summary -D",
    "git ls-files": "--deleted --full-name --killed -d -k",
    "git switch": "--create -c",
    "ls": "--hide --ignore --quoting-style --show-control-chars -I",
    "make": "--dry-run --just-print --question --recon -n -q",
    "md5sum": "--tag --zero -z",
    "mvn": "--batch-mode --debug --errors -B -X -e",
    "mypy": "--scripts-are-modules --skip-version-check --version --warn-unused-configs -V",
    "ninja": "-j -n",
    "od": "--address-radix -A",
    "pytest": (
        "--anyio-mode --asyncio-mode --cache-clear --collect-only --continue-on-collection-errors "
        "--disable-plugin-autoload --dist --doctest-continue-on-failure --doctest-modules "
        "--fail-on-flaky --failed-first --ff --fixtures --funcargs --help "
        "--hypothesis-show-statistics --import-mode --last-failed --last-failed-no-failures --lf "
        "--lfnf --log-file-level --looponfail --markers --new-first --nf --reruns --setup-only "
        "--setup-plan --setup-show --version -V -f -h -k -m"
    ),
    "rg": "--no-config",
    "ruff": "--check --color --diff --isolated --show-files --watch -w",
    "sort": "--parallel --unique -u",
    "tail": "--bytes --quiet --silent --verbose -c -q -v",
    "tr": "--delete -d",
    "xxd": "-i",
}
"""Suspicious options that were read by a person: they neither run nor write what another option does not allow."""


def recorded() -> Iterator[tuple[str, str, str]]:
    for line in lzma.decompress(RECORDED.read_bytes()).decode().splitlines():
        program, option, description = line.split("\t")
        yield program, option, description


OPTIONS = list(recorded())


def is_option_allowed(program: str, option: str) -> bool:
    """Return whether the rule for the program allows the option without a value, or with one in each way."""
    rule = f"run_command({program} *)"
    commands = (f"{program} {option}", f"{program} {option}=x", f"{program} {option} x")
    return any(
        is_allowed([rule], CheckedCall("run_command", {"command": each})) for each in commands
    )


@pytest.mark.parametrize("program", sorted({program for program, _, _ in OPTIONS}))
def test_option_that_runs_or_writes_is_not_allowed_by_a_star(program: str) -> None:
    suspicious = [o for p, o, text in OPTIONS if p == program and SUSPICIOUS.search(text)]
    harmless = HARMLESS.get(program, "").split()
    assert [each for each in suspicious if is_option_allowed(program, each)] == harmless


@pytest.mark.parametrize("program", ["git diff", "sort", "pytest", "tar", "curl", "gcc"])
def test_abbreviation_of_such_an_option_is_not_allowed(program: str) -> None:
    names = {option for name, option, _ in OPTIONS if name == program}
    suspicious = [
        option
        for name, option, text in OPTIONS
        if name == program and SUSPICIOUS.search(text) and option.startswith("--")
    ]
    harmless = HARMLESS.get(program, "").split()
    for option in suspicious:
        for length in range(3, len(option)):
            short = option[:length]
            meant = [name for name in names if name.startswith(short)]
            if option not in harmless and short not in names and meant == [option]:
                assert not is_option_allowed(program, short), short


# What the text of the help can't tell, and options that programs do not tell of.
@pytest.mark.parametrize(
    ("program", "options"),
    [
        ("awk", "-f -i -l -o -d -p -E --load --include --exec --file"),
        (
            "curl",
            "-o -O -K -D -c -T --output --config --libcurl --trace --dump-header --cookie-jar --stderr",
        ),
        ("fd", "-x -X --exec --exec-batch"),
        ("file", "-m -C -z -Z"),
        ("find", "-exec -execdir -ok -okdir -delete -fprint -fprint0 -fprintf -fls -files0-from"),
        ("gcc", "-wrapper -o -B -specs -fplugin @x"),
        ("gdb", "-ex -x -iex -ix --command --eval-command"),
        (
            "git",
            "-c --exec-path --git-dir --work-tree --namespace --config-env --bare -p --paginate",
        ),
        (
            "git commit",
            "-F -t -e -S -p --edit --template --gpg-sign --trailer --pathspec-from-file",
        ),
        ("git diff", "--ext-diff --textconv --output --no-index -O"),
        ("git grep", "-O --open-files-in-pager -f --textconv"),
        ("git log", "--show-signature --ext-diff --output -O"),
        ("go build", "-toolexec -ldflags -gcflags -o -overlay -modfile -exec -C -pkgdir"),
        (
            "go test",
            "-exec -o -c -coverprofile -test.coverprofile -test.outputdir -vettool --toolexec",
        ),
        ("make", "-f -I -E --eval --file --makefile CC=x -W"),
        ("node", "-e -p -r --eval --require --import --loader data:text/javascript,x"),
        ("perl", "-e -E -i -M -m -n"),
        ("rg", "--pre --hostname-bin -z --search-zip --ignore-file"),
        ("rsync", "-e --rsh --rsync-path"),
        ("scp", "-S -o -F -J -D"),
        ("sort", "-o -T --compress-program --files0-from --random-source"),
        ("split", "--filter"),
        ("sqlite3 -safe", "-init -cmd -newline -A"),
        ("sed --sandbox", "-i -f --in-place --file --follow-symlinks"),
        ("ssh", "-o -F -J -E"),
        (
            "tar",
            "-x -c -r -u -I -F -C --to-command --index-file --checkpoint-action --rsh-command -T",
        ),
        ("tree", "-o -R"),
        ("wget", "-a -o -O -e -P --use-askpass --output-file --execute"),
        ("xxd", "-r"),
        ("zip", "-T -TT -b"),
    ],
)
def test_dangerous_option_is_not_allowed_by_a_star(program: str, options: str) -> None:
    assert [each for each in options.split() if is_option_allowed(program, each)] == []


@pytest.mark.parametrize("name", sorted({*PROGRAMS, *GIT}))
def test_row_gives_each_option_one_notation(name: str) -> None:
    """An error would hide the next word from the check."""
    options = options_of((PROGRAMS[name] if name in PROGRAMS else GIT[name]).options)
    assert not options.flags & options.valued
    assert not options.flags & options.optional
    assert not options.valued & options.optional


VALUED = ("grep", "sort", "head", "tail", "cut", "wc", "uniq", "du", "ls", "diff")


@pytest.mark.parametrize("program", VALUED)
def test_flag_of_the_table_takes_no_value_in_the_installed_program(program: str) -> None:
    """GNU programs reject a value for a long option that has none: `option '--x' doesn't allow an argument`."""
    path = shutil.which(program)
    if path is None:
        pytest.skip(f"{program} is not installed")
    flags = [each for each in options_of(PROGRAMS[program].options).flags if each.startswith("--")]
    for flag in flags:
        command = [path, f"{flag}=x", "/dev/null"]
        ended = subprocess.run(
            command, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False
        )
        known = "unrecognized option" not in ended.stderr and "ambiguous" not in ended.stderr
        assert not known or "allow an argument" in ended.stderr, (flag, ended.stderr)


def test_every_program_with_a_table_has_recorded_options_or_none_at_all() -> None:
    names = {program for program, _, _ in OPTIONS}
    assert {"git diff", "git log", "sort", "tar", "find", "rg", "pytest", "make", "mvn"} <= names
    assert len(names & {*PROGRAMS, *RUNNERS, *(f"git {name}" for name in GIT)}) > 60
