"""What the setting `tools.allow` lets pass, and what it does not."""

from __future__ import annotations

import pytest

from axe_lsp.runtime.safety.allowances import is_allowed, rule_fault, rule_warning


@pytest.mark.parametrize(
    ("allowances", "tool"),
    [
        (["write_file"], "write_file"),
        ([" write_file "], "write_file"),
        (["*_file"], "edit_file"),
        (["*"], "run_command"),
        (["bash"], "run_command"),
        (["read_file", "edit_file"], "edit_file"),
        (["search"], "search"),
        (["*"], "issues/create"),
        (["*#*"], "issues/create"),
    ],
)
def test_names_globs_and_other_systems_names_allow_tools(allowances: list[str], tool: str) -> None:
    assert is_allowed(allowances, tool, {"command": "rm -r . | sh"})


@pytest.mark.parametrize(
    "allowances", [[], ["write"], ["write_files"], ["edit_file"], ["run_command"], ["write_file("]]
)
def test_other_names_do_not(allowances: list[str]) -> None:
    assert not is_allowed(allowances, "write_file", {"path": "a"})


GOOD, EVIL = "https://good.example/mcp", "https://evil.example/mcp"


@pytest.mark.parametrize("rule", [f"{GOOD}#create", f"{GOOD}#*", f"{GOOD}#cr*"])
def test_a_file_that_calls_its_own_server_like_an_allowed_one_gains_nothing(rule: str) -> None:
    assert is_allowed([rule], "issues/create", {}, GOOD)
    for address in (EVIL, f"{GOOD}/", f"{GOOD}?x=1", f"{EVIL}#{GOOD}", ""):
        assert not is_allowed([rule], "issues/create", {}, address)
        assert not is_allowed([rule], f"{GOOD}#*/create", {}, address)
    assert not is_allowed([rule], "issues/delete", {}, GOOD) or rule.endswith("#*")


@pytest.mark.parametrize(
    "rule", ["*_file", "write_file", "*file", "issues", "issues/*", "*/*", "issues/write_file"]
)
def test_no_other_rule_allows_tools_of_servers(rule: str) -> None:
    assert not is_allowed([rule], "issues/write_file", {}, GOOD)


@pytest.mark.parametrize(
    ("rule", "fault"),
    [
        ("issues/*", "such as `https://host/path#tool`"),
        ("*/*", "such as `https://host/path#tool`"),
        ("run_command(git diff --output=x)", 'has the option "--output=x", which no rule allows'),
        ("run_command(sh -c *)", 'has the option "-c", which no rule allows'),
        ("run_command(find . -delete)", 'has the option "-delete", which no rule allows'),
        ("run_command(sed -n *)", "add --sandbox to the rule"),
        (
            "run_command(mawk *)",
            "allows mawk to run or write what its operands say; name the whole",
        ),
        ("run_command(git format-patch --output-directory x)", "which no rule allows"),
        ("run_command(*)", "names no command"),
        ("run_mcp( )", "names no command"),
        ("write_file(a.txt)", 'has parentheses behind "write_file"; only `run_command`'),
        ("run_command(echo ')", "a quotation mark that is not closed"),
    ],
)
def test_a_rule_without_effect_says_why(rule: str, fault: str) -> None:
    assert fault in (rule_fault(rule) or "")
    command = rule.removeprefix("run_command(").removesuffix(")").removesuffix(" *")
    assert not is_allowed([rule], "run_command", {"command": command})
    assert not is_allowed([rule], "run_command", {"command": f"{command} x"})


@pytest.mark.parametrize(
    "rule",
    [
        "*",
        "*#*",
        "write_file",
        "Bash(git diff *)",
        "run_command(black --check src/a.py)",
        "run_command(go test -count=1)",
        "run_command(sed -n 5p a.txt)",
        "run_command(sed --sandbox -n *)",
        "run_command(git rev-parse --git-dir)",
        f"{GOOD}#*",
    ],
)
def test_a_rule_with_an_effect_has_no_fault(rule: str) -> None:
    assert rule_fault(rule) is None


@pytest.mark.parametrize(
    "program",
    ["env", "/usr/bin/env", "time xargs", "bash", "npx", "env A=1", "timeout 60", "nice -n 5"],
)
def test_a_rule_for_a_program_that_runs_any_other_one_is_warned_about(program: str) -> None:
    for rule in (f"run_command({program})", f"Bash({program} *)"):
        assert "allows all commands" in (rule_warning(rule) or "")


@pytest.mark.parametrize(
    "rule", ["*", "run_command", "run_command(bash a.sh)", "run_mcp(npx)", "run_command(mawk *)"]
)
def test_other_rules_are_not_warned_about(rule: str) -> None:
    assert rule_warning(rule) is None


@pytest.mark.parametrize(
    "command",
    ["git diff", " git diff ", "git diff HEAD", "git diff 'a b/c.py' d.py"],
)
def test_an_allowed_command_may_have_operands_behind_it(command: str) -> None:
    for rule in ("run_command(git diff)", "Bash(git diff)", "run_command(git diff *)"):
        assert is_allowed([rule], "run_command", {"command": command})


@pytest.mark.parametrize(
    "command", ["git diff --stat", "git diff -U3 a", "git diff x=y", "git diff -- a"]
)
def test_options_are_allowed_only_by_a_rule_with_a_star(command: str) -> None:
    assert not is_allowed(["run_command(git diff)"], "run_command", {"command": command})
    assert is_allowed(["run_command(git diff *)"], "run_command", {"command": command})


@pytest.mark.parametrize(
    ("rule", "command"),
    [
        ("git *", "git rev-parse --git-dir"),
        ("git *", "git init --bare x"),
        ("git *", "git log --oneline config run"),
        ("git *", "git -C sub status"),
        ("git bisect *", "git bisect good"),
        ("git config --get *", "git config --get user.name"),
        ("git log *", "git log --oneline -n 5 --diff-filter=A --format=fuller"),
        ("go test *", "go test -run X -v"),
        ("pytest *", "pytest -x -k name --cov=src --import-mode=importlib"),
        ("ruff check *", "ruff check --select=E"),
        ("sed --sandbox -n *", "sed --sandbox -n 5,7p a.txt"),
        ("sed -n 5p a.txt", "sed -n 5p a.txt"),
        ("find *", "find . -name x.py -print -type f"),
        ("rg *", "rg -n -i --hidden x src"),
        ("tar *", "tar tf a.tar"),
        ("make *", "make -j4 -C docs html"),
        ("node --test *", "node --test --test-name-pattern=x"),
        ("git *", "git diff -u"),
    ],
)
def test_harmless_options_are_allowed_by_a_star(rule: str, command: str) -> None:
    assert is_allowed([f"run_command({rule})"], "run_command", {"command": command})


@pytest.mark.parametrize(
    ("rule", "command"),
    [
        ("git diff *", "git diff --output=.bashrc"),
        ("git diff *", "git diff --output .bashrc"),
        ("git diff *", "git diff --outp=.bashrc"),
        ("git diff *", "git diff --o=.bashrc"),
        ("git diff *", "git diff '--output=.bashrc'"),
        ("git diff *", "git diff -'-out'put=.bashrc"),
        ("git diff *", "git diff --ext-diff"),
        ("git diff *", "git diff --ext"),
        ("git *", "git -c core.pager=evil diff"),
        ("git *", "git -ccore.pager=evil diff"),
        ("git *", "git --config-env=core.pager=X diff"),
        ("git *", "git --exec-path=. diff"),
        ("git *", "git grep -Oevil x"),
        ("git *", "git fetch --upload-pack=evil ."),
        ("rg *", "rg --pre evil x"),
        ("rg *", "rg --pre=evil x"),
        ("find *", "find . -exec evil"),
        ("find *", "find . -execdir evil"),
        ("find *", "find . -delete"),
        ("find *", "find . -fprint .bashrc"),
        ("bash *", "bash -lc evil"),
        ("sort *", "sort -uo.bashrc a"),
        ("git *", "git --git-dir=evil.git status"),
        ("git *", "git -P --git-dir evil.git status"),
        ("git *", "git --git-dir=evil.git status rev-parse"),
        ("git *", "git -C rev-parse --git-dir=../evil.git status"),
        ("git *", "git -C evil.git --bare diff a b"),
        ("git -P *", "git -P --git-dir=evil.git status"),
        ("git -C sub *", "git -C sub --git-dir evil.git status"),
        ("git *", "git config core.fsmonitor ./evil"),
        ("git *", "git -P config core.fsmonitor ./evil"),
        ("git *", "git bisect run ./evil"),
        ("git bisect *", "git bisect run ./evil"),
        ("git submodule *", "git submodule --quiet foreach ./evil"),
        ("time git *", "time git merge-index ./evil -a"),
        ("git *", "git rebase -x evil HEAD"),
        ("git difftool *", "git difftool --extcmd=evil"),
        ("git format-patch *", "git format-patch --output-directory=/home HEAD"),
        ("git init *", "git init --template=evil x"),
        ("fd *", "fd x -x evil"),
        ("fd *", "fd x --exec-batch evil"),
        ("sed -n --sandbox *", "sed -n --sandbox -i 1p x"),
        ("sed -n 1p", "sed -n 1p -e 1e"),
        ("sed -n", "sed -n '1e touch x' a"),
        ("tar tf *", "tar tf a.tar -I evil"),
        ("tar *", "tar tIf evil a.tar"),
        ("tar *", "tar --use-compress=evil -tf a.tar"),
        ("/bin/tar tf *", "/bin/tar tf a.tar -Ievil"),
        ("rsync *", "rsync -e evil a b"),
        ("go test *", "go test -toolexec evil"),
        ("go vet *", "go vet -vettool=evil"),
        ("npm test *", "npm test --script-shell=./evil"),
        ("pytest *", "pytest --basetemp=/home"),
        ("curl *", "curl -D .bashrc http://x"),
        ("wget *", "wget --output-doc=.bashrc http://x"),
        ("make *", "make --eval=evil"),
        ("make *", "make 'CC=touch x'"),
        ("make *", "make SHELL=./evil all"),
        ("make -C docs *", "make -C docs html SPHINXBUILD=evil"),
        ("make *", "make -f notes.txt"),
        ("make *", "make --makef=notes.txt"),
        ("mawk -f a.awk", "mawk -f a.awk b.txt"),
        ("node *", "node --import data:text/javascript,evil"),
        ("node --test *", "node --test --requ ./evil.js"),
        ("git *", "git clone -u 'touch x' . out"),
        ("git clone *", "git clone -qu 'touch x' . out"),
        ("git *", "git fast-export --export-marks=.bashrc HEAD"),
        ("curl *", "curl --remote-name http://x/evil"),
        ("man *", "man -P evil ls"),
        ("mypy *", "mypy --python-executable evil"),
        ("time rg *", "time rg --pre evil x"),
        ("make test", "make test SHELL=evil"),
        ("git diff --stat *", "git diff --stat --output=x"),
        ("git diff", "git diff; rm x"),
        ("git diff *", "git diff; rm x"),
        ("git diff *", "git diff --stat > x"),
        ("git diff *", "git diff $(rm x)"),
    ],
)
def test_no_rule_lets_a_model_run_or_write_by_an_option(rule: str, command: str) -> None:
    assert not is_allowed([f"run_command({rule})"], "run_command", {"command": command})


@pytest.mark.parametrize(
    "command",
    [
        "git",
        "git difftool",
        "git push",
        "echo git diff",
        "git diff; rm -r x",
        "git diff && rm x",
        "git diff | sh",
        "git diff > x",
        "git diff < x",
        "git diff &",
        "git diff $(rm x)",
        "git diff `rm x`",
        "git diff $HOME",
        "git diff *",
        "git diff ~",
        "git diff {a,b}",
        "git diff \\x",
        "git diff\nrm x",
        "git diff\trm",
        "git diff #x",
        "git diff (x)",
        "",
    ],
)
def test_nothing_else_is_allowed_with_it(command: str) -> None:
    assert not is_allowed(["run_command(git diff)"], "run_command", {"command": command})


def test_a_command_is_no_argument_of_another_tool() -> None:
    arguments = {"command": "git diff", "path": "git diff"}
    assert not is_allowed(["run_command(git diff)"], "write_file", arguments)
    assert not is_allowed(["write_file(git diff)"], "write_file", arguments)
    assert not is_allowed(["write_file(git diff)"], "run_command", arguments)
