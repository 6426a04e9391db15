"""Rules about agents among others: depth, names that two files define, inputs that nobody gives."""

from __future__ import annotations

from axe_lsp.features.diagnostics import diagnostics
from support.findings import check_findings
from support.fixture import open_fixture

CHAIN = """
--- a.toml
sub_agents = ["main"]
[sub_agents_config]
max_depth = 1
--- c.toml
--- d.toml
"""


def test_agents_below_the_depth_limit_of_every_root() -> None:
    first, second = check_findings(
        """
        sub_agents = ["c", "d"]
                      ^^^ warning unreachable-depth: "c" can't be called from here: a → main is as deep as a lets calls go (max_depth 1)
                           ^^^ warning unreachable-depth: "d" can't be called from here: a → main is as deep as a lets calls go (max_depth 1)
        """,
        others=CHAIN,
    )
    assert [each.message for each in first.related] == ["a may call main"]
    assert first.related == second.related


def test_one_root_that_lets_calls_go_deeper_is_enough() -> None:
    check_findings('sub_agents = ["c"]\n', others=CHAIN + '--- e.toml\nsub_agents = ["main"]\n')


def test_a_root_itself_is_never_too_deep() -> None:
    check_findings('sub_agents = ["c"]\nsub_agents_config.max_depth = 1\n', others="--- c.toml\n")


def test_the_default_lets_calls_go_three_deep() -> None:
    chain = "".join(
        f'--- {caller}.toml\nsub_agents = ["{called}"]\n'
        for caller, called in ["rx", "xy", ("y", "main")]
    )
    check_findings(
        """
        sub_agents = ["c"]
                      ^^^ warning unreachable-depth: "c" can't be called from here: r → x → y → main is as deep as r lets calls go (max_depth 3)
        """,
        others=f"{chain}--- c.toml\n",
    )
    deeper = chain.replace('["x"]', '["x"]\nsub_agents_config.max_depth = 4')
    check_findings('sub_agents = ["c"]\n', others=f"{deeper}--- c.toml\n")


def test_the_agent_that_is_run_decides_not_those_in_between() -> None:
    check_findings(
        'sub_agents = ["c"]\n',
        others="""
            --- a.toml
            sub_agents = ["b"]
            --- b.toml
            sub_agents = ["main"]
            [sub_agents_config]
            max_depth = 1
            --- c.toml
        """,
    )


def test_agents_that_only_call_each_other_have_no_root() -> None:
    opened = open_fixture(
        """
        --- main.toml
        name = "main"
        model = "ollama/m"
        sub_agents = ["c"]
        --- a.toml
        sub_agents = ["b", "main"]
        [sub_agents_config]
        max_depth = 1
        --- b.toml
        sub_agents = ["a"]
        --- c.toml
        """
    )
    assert diagnostics(opened.snapshot, opened.file) == ()


def test_an_agent_that_task_may_start_counts_as_a_root() -> None:
    check_findings('sub_agents = ["c"]\n', others=CHAIN + '--- t.toml\n[task]\ntypes = ["main"]\n')


def test_two_files_of_one_scope_define_an_agent() -> None:
    (finding,) = check_findings(
        """
        name = "main"
               ^^^^^^ warning duplicate-name: another file defines "main" too; which one is called depends on the caller
        model = "openai/gpt"
        """,
        head="",
        others='--- /other/.axe/agents: main.toml\nname = "main"\n',
    )
    (related,) = finding.related
    assert related.uri == "file:///other/.axe/agents/main.toml"


def test_an_agent_of_the_workspace_shadows_that_of_the_user() -> None:
    opened = open_fixture(
        """
        --- user: main.toml
        name = "main"
        model = "ollama/m"
        --- main.toml
        name = "main"
        model = "ollama/m"
        """
    )
    (finding,) = diagnostics(opened.snapshot, opened.file)
    assert (finding.severity.name, finding.code) == ("INFORMATION", "duplicate-name")
    assert finding.related[0].uri == "file:///project/axe/agents/main.toml"
    shadowing = opened.snapshot.file("file:///project/axe/agents/main.toml")
    assert shadowing is not None
    assert diagnostics(opened.snapshot, shadowing) == ()


def test_an_input_that_no_agent_can_give() -> None:
    (finding,) = check_findings(
        """
        [input.properties.path]
         ^^^^^ hint unused-config: no agent lists "main" in its sub_agents, so no model uses this input
        type = "string"
        """
    )
    assert finding.unnecessary


def test_an_input_that_an_agent_gives() -> None:
    check_findings(
        '[input.properties.path]\ntype = "string"\n',
        others='--- a.toml\nsub_agents = ["main"]\n',
    )


def test_no_finding_about_other_agents_before_the_folders_are_read() -> None:
    opened = open_fixture(
        """
        --- main.toml
        name = "main"
        model = "ollama/m"
        sub_agents = ["c"]
        [input]
        --- a.toml
        sub_agents = ["main"]
        [sub_agents_config]
        max_depth = 1
        """,
        complete=False,
    )
    assert diagnostics(opened.snapshot, opened.file) == ()


def test_shorter_of_two_timeouts_is_reported() -> None:
    check_findings(
        """
        sub_agents = ["quick", "slow", "same", "free"]
                      ^^^^^^^ information two-timeouts: "quick" may take 5 seconds by its own timeout, and not the 60 of sub_agents_config.timeout
                               ^^^^^^ information two-timeouts: "slow" may take 60 seconds when it is called from here (sub_agents_config.timeout), and not the 90 of its own timeout
        [sub_agents_config]
        timeout = 60
        """,
        others="""
            --- quick.toml
            timeout = 5
            --- slow.toml
            timeout = 90
            --- same.toml
            timeout = 60
            --- free.toml
        """,
    )


def test_a_called_agent_has_no_more_time_than_its_caller() -> None:
    check_findings(
        """
        timeout = 30
        sub_agents = ["slow"]
                      ^^^^^^ information two-timeouts: "slow" may take what is left of the 30 seconds of this agent when it is called from here, and not the 90 of its own timeout
        """,
        others="--- slow.toml\ntimeout = 90\n",
    )


SIDE_RUNS = """
--- reader.toml
tools = ["read_file"]
--- writer.toml
tools = ["read_file", "write_file", "run_command"]
--- copier.toml
tools = ["write_file"]
isolation.mode = "copy"
"""


def test_side_runs_that_change_files_without_a_copy_are_reported_at_their_name() -> None:
    check_findings(
        """
        sub_agents = ["reader", "writer", "copier"]
                                ^^^^^^^^ hint side-run-writes: side runs of "writer" can change files while this agent works on them (write_file, run_command); with isolation.mode = "copy" they work in a copy
        sub_agents_config.background = "optional"
        """,
        others=SIDE_RUNS,
    )


def test_called_agents_that_change_files_and_are_waited_for_are_not_reported() -> None:
    check_findings('sub_agents = ["writer"]\n', others=SIDE_RUNS)
