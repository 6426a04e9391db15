"""Statements that break off, and what makes them whole. Each pair is a text before and after."""

from __future__ import annotations

import pytest

from axe_lsp.agentfile.text.parse import Parse
from support.actions import HEAD, Offered

PAIRS = [
    # strings
    ('skill = "x<|>', 'skill = "x"'),
    ("skill = 'x<|>  ", "skill = 'x'  "),
    ('skill = "x<|>\nstream = true', 'skill = "x"\nstream = true'),
    ('skill = "x<|>\r\nstream = true\r\n', 'skill = "x"\r\nstream = true\r\n'),
    ('tools = ["grep<|>]', 'tools = ["grep"]'),
    ('tools = ["read_file", "grep<|> ] # two', 'tools = ["read_file", "grep" ] # two'),
    ('tools = [\n  "grep<|>,\n  "read_file",\n]', 'tools = [\n  "grep",\n  "read_file",\n]'),
    ('tools = [\n  "grep<|>\n]', 'tools = [\n  "grep"\n]'),
    ('retry = { backoff = "fixed<|> }', 'retry = { backoff = "fixed" }'),
    (
        'system_prompt = """<|>\nHi\n\n[params]\ntemperature = 1',
        'system_prompt = """\nHi\n"""\n\n[params]\ntemperature = 1',
    ),
    (
        'system_prompt = "Say<|> it.\nBe brief."\nstream = true',
        'system_prompt = """\nSay it.\nBe brief."""\nstream = true',
    ),
    (
        "system_prompt = 'Say<|> it.\nBe brief.\n\n[params]\n",
        "system_prompt = '''\nSay it.\nBe brief.'''\n\n[params]\n",
    ),
    ("skill = “x<|> y”", 'skill = "x y"'),
    ("tools = [„grep<|>“, ‘read_file’]", 'tools = ["grep", "read_file"]'),
    ('skill = "C:\\d<|>\\n\\w"', 'skill = "C:\\\\d\\n\\\\w"'),
    ('skill = "C:\\d<|>"', 'skill = "C:\\\\d"'),
    # words without quotes
    ("description = Checks<|> the style # of all", 'description = "Checks the style" # of all'),
    ("sub_agents = lint<|>", 'sub_agents = ["lint"]'),
    ("task = { types = explore<|> }", 'task = { types = ["explore"] }'),
    ("memory = { enabled = yes<|> }", "memory = { enabled = true }"),
    ("mcp_servers = [{ headers = { A = x<|> } }]", 'mcp_servers = [{ headers = { A = "x" } }]'),
    ("files = src/*.py<|> # all", 'files = ["src/*.py"] # all'),
    ("sub_agents = lint<|>, test", 'sub_agents = ["lint", "test"]'),
    ("tools = [grep<|>, read_file]", 'tools = ["grep", "read_file"]'),
    ("tools = [grep<|>]", 'tools = ["grep"]'),
    ("memory = { scope = run<|>, last_n = 1 }", 'memory = { scope = "run", last_n = 1 }'),
    ("stream = True<|>", "stream = true"),
    ("stream = <|>yes", "stream = true"),
    ("stream = off<|>", "stream = false"),
    ("timeout = 007<|>", "timeout = 7"),
    # arrays and inline tables
    ('tools = ["grep"<|>\n[params]', 'tools = ["grep"]\n[params]'),
    ('tools = ["grep",<|>\n[params]', 'tools = ["grep"]\n[params]'),
    ('tools = [\n  "grep", # one<|>\n[params]', 'tools = [\n  "grep", # one\n]\n[params]'),
    ('tools = ["grep" # one<|>\n[params]', 'tools = ["grep"] # one\n[params]'),
    ("tools = [<|>", "tools = []"),
    ("memory = { enabled = true<|>", "memory = { enabled = true}"),
    ("mcp_servers = [{ name = 'x'<|>]", "mcp_servers = [{ name = 'x'}]"),
    ('tools = ["grep" <|>"read_file"\n"x" ]', 'tools = ["grep", "read_file",\n"x" ]'),
    ("memory = { last_n = 1 <|>path = 'x' }", "memory = { last_n = 1, path = 'x' }"),
    ('tools = ["grep",<|>, "read_file"]', 'tools = ["grep", "read_file"]'),
    ("memory = { ,<|> last_n = 1 }", "memory = {  last_n = 1 }"),
    # keys, headers, ends of lines
    ("skill<|>: 'x'", "skill = 'x'"),
    ("skill<|> := 'x'", "skill = 'x'"),
    ("skill<|> 'x'", "skill = 'x'"),
    ("[budget]\nmax<|> turns = 3", "[budget]\nmax_turns = 3"),
    ("system-prompt = 'x'\nsystem<|> prompt = 'y'", "system-prompt = 'x'\nsystem_prompt = 'y'"),
    ("[params<|>\ntemperature = 1", "[params]\ntemperature = 1"),
    ("[params<|> # p", "[params] # p"),
    ("[[mcp_servers<|>]", "[[mcp_servers]]"),
    ("[[mcp_servers<|>", "[[mcp_servers]]"),
    ("timeout = 3,<|>", "timeout = 3"),
    ("timeout = 3 ;<|>\n", "timeout = 3\n"),
    ("timeout = 3, <|>stream = true", "timeout = 3\nstream = true"),
    ("timeout = 3 <|>stream = true", "timeout = 3\nstream = true"),
    ("[params] <|>temperature = 1", "[params]\ntemperature = 1"),
    ("/<|>/ note", "# note"),
    ("[output]\n$<|>ref = 'x'", "[output]\n\"$ref\" = 'x'"),
    ("output = { $<|>ref = 'x' }", "output = { \"$ref\" = 'x' }"),
    ("skill = 'a'\nskill<|> = 'b' # x\nstream = true", "skill = 'a'\nstream = true"),
]


@pytest.mark.parametrize(("before", "after"), PAIRS)
def test_a_statement_becomes_whole(before: str, after: str) -> None:
    offered = Offered(HEAD + before, "quickfix")
    fixes = [each for each in offered.actions if each.finding and each.finding.code == "syntax"]
    assert [offered.taken(each.title) for each in fixes] == [HEAD + after]
    assert fixes[0].preferred
    assert not Parse(after).problems


@pytest.mark.parametrize(
    "text",
    [
        "skill = <|>",
        "skill<|>",
        "<|>= 3",
        "[<|>]",
        'tools = ["grep<|>, "read_file"]',
        "timeout = 3 <|>4",
        "stream = <|>@",
        'skill = "a<|>\\',
        "a = [[[<|>",
        "skill = '''<|>",
        "<|>\x00",
    ],
)
def test_nothing_is_guessed_that_leaves_the_statement_broken(text: str) -> None:
    offered = Offered(text, "quickfix")
    for action in offered.actions:
        if action.finding is not None and action.finding.code == "syntax":
            before, after = Parse(offered.opened.text), Parse(offered.taken(action.title))
            assert len(after.problems) < len(before.problems)


@pytest.mark.parametrize(
    "text", ["timeout = 5<|>m", "stream = en<|>abled", "params.temperature = w<|>arm"]
)
def test_what_is_to_be_a_number_or_a_truth_is_not_put_into_quotes(text: str) -> None:
    assert "Put it into quotes" not in Offered(HEAD + text, "quickfix").titles
