"""What the setting `tools.allow` lets pass, and what it does not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from axe_lsp.runtime.messages import Json
from axe_lsp.runtime.safety.allowances import (
    CheckedCall,
    narrowest_rule,
    near_miss,
    rule_fault,
    rule_warning,
)
from axe_lsp.runtime.safety.allowances import is_allowed as rules_allow
from axe_lsp.runtime.safety.protected_places import changed_file_of


def is_allowed(
    rules: Sequence[str], tool: str, arguments: Mapping[str, Json], address: str = ""
) -> bool:
    return rules_allow(rules, CheckedCall(tool, arguments, address))


def allows(rule: str, command: str, folder: Path | None = None) -> bool:
    return rules_allow([rule], CheckedCall("run_command", {"command": command}, folder=folder))


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
        ("run_command(git diff --output=x *)", '"--output=x" is not an option of git'),
        ("run_command(git -c a=b *)", '"-c" is not an option of git that rules allow'),
        ("run_command(git push *)", '"git push" is not a subcommand that rules with `*` allow'),
        ("run_command(find . -delete *)", '"-delete" is not an option of find'),
        ("run_command(sed -n *)", "sed runs or writes what its operands say without --sandbox"),
        (
            "run_command(mawk *)",
            "mawk runs or writes what its operands say; write the whole command",
        ),
        ("run_command(pytest -c x *)", '"-c" is an option of pytest that names a program'),
        ("run_command(npm install *)", '"install" is not a subcommand of npm'),
        ("run_command(*)", "names no command"),
        ("run_mcp( )", "names no command"),
        ("grep(a.txt)", 'has parentheses behind "grep"; only `run_command` takes a command'),
        ("write_file([a)", 'has a glob that is malformed: "[a"'),
        ("run_command(echo ')", "a quotation mark that is not closed"),
    ],
)
def test_a_rule_without_effect_says_why(rule: str, fault: str) -> None:
    assert fault in (rule_fault(rule) or "")
    command = rule.partition("(")[2].removesuffix(")").removesuffix(" *")
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
        "run_command(git push origin main)",
        "run_command(find . -delete)",
        "run_command(gcc -O2 -c *)",
        "write_file(docs/**)",
        "run_command(sed --sandbox -n *)",
        "run_command(git rev-parse --git-dir)",
        f"{GOOD}#*",
    ],
)
def test_a_rule_with_an_effect_has_no_fault(rule: str) -> None:
    assert rule_fault(rule) is None


@pytest.mark.parametrize(
    "program",
    [
        *("env", "/usr/bin/env", "time xargs", "bash", "npx", "env A=1", "timeout 60", "nice -n 5"),
        *("strace", "chroot", "python3.12", "perl5.36", "node22"),
    ],
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
        ("git *", "git log --oneline config run"),
        ("git *", "git -C sub status"),
        ("git bisect *", "git bisect log"),
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
        ("tar *", "tar tfz a.tar.gz"),
        ("mvn *", "mvn -pl sub -am test"),
        ("mvn *", "mvn --batch-mode test"),
        ("vitest *", "vitest run --passWithNoTests"),
        ("sqlite3 -safe *", "sqlite3 -safe a.db 'select 1'"),
        ("make *", "make -j4 -C docs html"),
        ("git -C sub *", "git -C sub log -5 -p"),
        ("git commit *", "git commit -am 'a message'"),
        ("git fetch *", "git fetch --prune origin"),
        ("time git *", "time git show --stat HEAD"),
        ("sudo -u bob git *", "sudo -u bob git log"),
        ("docker compose up *", "docker compose up web"),
        ("env A=1 git log *", "env A=1 git log --oneline"),
        ("pytest *", "pytest -xvs tests/test_a.py::test_b -k 'a or b'"),
        ("python -m pytest *", "python -m pytest -q --lf"),
        ("uv run pytest *", "uv run pytest -q"),
        ("npm test *", "npm test -- --watch=false"),
        ("npm *", "npm run lint"),
        ("cargo *", "cargo test --release -- --nocapture"),
        ("go *", "go test -count=1 ./..."),
        ("go test *", "go test -v -run=TestX ./pkg/..."),
        ("mvn *", "mvn -q -B test -pl core"),
        ("./gradlew *", "./gradlew test --info"),
        ("tox *", "tox -e py312"),
        ("gcc -O2 -c *", "gcc -O2 -c a.c b.c"),
        ("gcc *", "gcc a.c"),
        ("curl *", "curl https://example.com/a"),
        ("head *", "head -20 a.txt"),
        ("sort *", "sort -k2 -n a.txt"),
        ("ls *", "ls -la src"),
        ("git *", "git diff -u"),
        *((f"{program} *", f"{program} --coverage") for program in ("jest", "vitest")),
        ("jest *", "jest --watch"),
        ("npm test *", "npm test -- --coverage --watch"),
        ("npm run *", "npm run lint -- --fix src"),
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
        ("tar *", "tar tfI a.tar ./evil"),
        ("tar *", "tar tfF a.tar ./evil"),
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
        ("git *", "git push ./bare"),
        ("git push", "git push ./bare"),
        ("git *", "git submodule--helper foreach ./evil"),
        ("git *", "git bisect--helper run ./evil"),
        ("git *", "git --work-tree=.git checkout ."),
        ("git *", "git checkout-index --prefix=.git/ -a"),
        ("git *", "git daemon --access-hook=./evil"),
        ("git *", "git commit -m x"),
        ("git -C commit *", "git -C commit commit -m x"),
        ("git commit *", "git commit"),
        ("git commit *", "git commit -m x -S"),
        ("git fetch *", "git fetch ./bare"),
        ("git fetch *", "git fetch ext::evil"),
        ("git *", "git log -- --output=x"),
        ("git *", "git log --author --output=x"),
        ("git *", "git branch evil"),
        ("split *", "split --filter=evil a"),
        ("gcc *", "gcc -wrapper evil a.c"),
        ("gcc *", "gcc @options a.c"),
        ("scp *", "scp -S evil a b"),
        ("gdb *", "gdb -ex evil"),
        ("go build *", "go build -ldflags=-extld=evil"),
        ("go build *", "go build --ldflags=-extld=evil"),
        ("go test *", "go test -test.cpuprofile=x"),
        ("node *", "node data:text/javascript,evil"),
        ("wget *", "wget -a .bashrc http://x"),
        ("tar *", "tar --index-file=.bashrc -tf a.tar"),
        ("tar *", "tar xf a.tar"),
        ("tar *", "tar tf host:a.tar"),
        ("uniq *", "uniq a F"),
        ("xxd *", "xxd a F"),
        ("vim *", "vim +evil"),
        ("cp *", "cp a .git/hooks/pre-commit"),
        ("cp *", "cp a ./.GIT/hooks/pre-commit"),
        ("mv *", "mv a sub/../.github"),
        ("pytest *", "pytest @arguments"),
        ("pytest *", "pytest --rootdir=.."),
        ("pytest *", "pytest -qp evil"),
        ("pytest *", "pytest ../other"),
        ("pytest *", "pytest --foo=/etc"),
        ("pytest *", "pytest .github/evil.py"),
        ("tox *", "tox -x testenv.commands=evil"),
        ("tox *", "tox exec -- evil"),
        ("npm *", "npm install evil"),
        ("npm *", "npm --loglevel test install evil"),
        ("mvn *", "mvn exec:exec"),
        ("mvn *", "mvn test -Dexec.executable=evil"),
        ("env *", "env -S evil"),
        ("sudo -u git *", "sudo -u git status --porcelain"),
        ("sudo -u git *", "sudo -u git push ./bare"),
        ("sudo -u bob git *", "sudo -u bob git push ./bare"),
        ("env -i git *", "env -i git push ./bare"),
        ("xargs git *", "xargs git clone ./bare"),
        ("docker exec box make *", "docker exec box make -f evil"),
        ("A=1 pytest *", "pytest -q"),
        ("pytest *", "A=1 pytest -q"),
        ("git diff", "git diff; rm x"),
        # The shell expands `*` to the names of files, such as `--output=.bashrc` and `CC=evil`.
        ("git diff *", "git diff *"),
        ("make *", "make *"),
        ("ls -l *", "ls -l *"),
        ("jest *", "jest --global-setup ./evil"),
        ("jest *", "jest --global_setup=./evil"),
        ("jest *", "jest --setup-files-after-env ./evil"),
        ("vitest *", "vitest --typecheck.checker=./evil"),
        ("vitest *", "vitest --coverage.customProviderModule=./evil"),
        ("vitest *", "vitest --poolOptions.forks.execArgv=-r=./evil"),
        ("vitest *", "vitest --outputFile.json=x"),
        ("npm test *", "npm test --script_shell ./evil"),
        ("npm test *", "npm test -- --globalSetup ./evil"),
        ("npm test *", "npm test -- --require=./evil"),
        ("npm run test *", "npm run test -- -r ./evil"),
        ("pnpm test *", "pnpm test --setup-files ./evil"),
        ("yarn *", "yarn test --import ./evil"),
        ("bun *", "bun run test --reporter=./evil"),
        ("tsc *", "tsc --OUTDIR x"),
        ("mvn *", "mvn -define a=b test"),
        ("mvn *", "mvn -defi a=b test"),
        ("just *", "just shell=./evil"),
        ("just *", "just --cygpath ./evil"),
        ("prettier *", "prettier --plugin-search-dir evil"),
        ("bazel *", "bazel test --shell_executable=./evil"),
        ("bazel *", "bazel test --workspace_status_command=./evil"),
        ("bazel *", "bazel test --test_env=LD_PRELOAD=./evil"),
        ("bazel *", "bazel build --build_event_text_file=x"),
        ("sqlite3 -safe *", "sqlite3 -safe .envrc vacuum"),
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


@pytest.mark.parametrize(
    "command",
    [
        "git push ./bare",
        "find . -delete",
        "a | b > c",
        "echo ')'",
        "git diff --output=x",
        "make a\nb",
        "x=1",
    ],
)
def test_whole_command_is_allowed_word_for_word(command: str) -> None:
    assert allows(f"run_command({command})", command)
    assert not allows(f"run_command({command})", f"{command} -x")


@pytest.mark.parametrize(
    ("call", "rule"),
    [
        (CheckedCall("run_command", {"command": " gcc -O2 a.c "}), "run_command(gcc -O2 a.c)"),
        (CheckedCall("run_command", {"command": "a | b"}), "run_command(a | b)"),
        (CheckedCall("run_command", {"command": "ls *"}), ""),
        (CheckedCall("run_command", {"command": ""}), ""),
        (CheckedCall("issues/create", {}, GOOD), f"{GOOD}#create"),
        (CheckedCall("issues/create", {}), ""),
        (CheckedCall("run_mcp", {}, "run_mcp(uvx git)"), "run_mcp(uvx git)"),
        (CheckedCall("url_fetch", {}), "url_fetch"),
    ],
)
def test_narrowest_rule_allows_the_call_and_no_other_one(call: CheckedCall, rule: str) -> None:
    assert narrowest_rule(call) == rule
    assert not rule or rules_allow([rule], call)


def test_narrowest_rule_for_a_file_is_its_path(tmp_path: Path) -> None:
    for name, glob in ((".github/a.yml", ".github/a.yml"), ("a[1]*.txt", r"a\[1]\*.txt")):
        call = CheckedCall("write_file", {}, file=changed_file_of(tmp_path / name, [tmp_path]))
        assert narrowest_rule(call) == f"write_file({glob})"
        assert rules_allow([f"write_file({glob})"], call)


def test_near_miss_names_the_word_and_the_rule_that_allows_it() -> None:
    call = CheckedCall("run_command", {"command": "gcc -O2 a.c"})
    assert near_miss(["write_file", "run_command(gcc *)"], call) == (
        '`run_command(gcc *)` does not allow it, because "-O2" is an option that the rule does not name; '
        "`run_command(gcc -O2 a.c)` would allow it"
    )
    assert near_miss(["run_command(git diff)"], call) == ""


def test_operand_that_leads_by_a_link_to_a_protected_place_is_not_allowed(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "notes").symlink_to(".git")
    assert not allows("run_command(cp *)", "cp a notes/config", tmp_path)
    assert allows("run_command(cp *)", "cp a other/config", tmp_path)
    assert allows("run_command(cp a .git/config)", "cp a .git/config", tmp_path)
    assert allows("run_command(cat *)", "cat .git/config", tmp_path)


def test_runner_may_be_given_a_path_of_the_working_directory(tmp_path: Path) -> None:
    assert allows("run_command(pytest *)", f"pytest {tmp_path}/tests", tmp_path)
    assert not allows("run_command(pytest *)", f"pytest {tmp_path}-other/tests", tmp_path)


def test_operand_that_leads_by_a_link_to_a_start_up_file_elsewhere_is_not_allowed(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "notes").symlink_to(tmp_path / ".bashrc")
    (folder / "other").symlink_to(tmp_path / "other")
    assert not allows("run_command(cp *)", "cp a notes", folder)
    assert allows("run_command(cp *)", "cp a other", folder)


@pytest.mark.parametrize(
    "command", ["make -C {}", "make -C{}", "make --directory {}", "pytest --ignore={}"]
)
def test_runner_is_not_led_out_of_the_working_directory_by_a_link(
    tmp_path: Path, command: str
) -> None:
    folder = tmp_path / "project"
    for each in (folder / "sub", tmp_path / "elsewhere"):
        each.mkdir(parents=True)
    (folder / "outside").symlink_to(tmp_path / "elsewhere")
    (folder / "inside").symlink_to(folder / "sub")
    rule = f"run_command({command.partition(' ')[0]} *)"
    assert allows(rule, command.format("inside"), folder)
    assert not allows(rule, command.format("outside"), folder)
