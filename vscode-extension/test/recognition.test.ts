// Agents outside their folders are known by what they say.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { looksLikeAgent } from '../src/recognition';

const agents = {
  'a model and a prompt': 'name = "a"\nmodel = "openai/gpt-5"\nsystem_prompt = "You help."\n',
  'single quotes, spaces and comments': "# mine\n  model='ollama/llama3:8b'  # local\nskill = 's'\n",
  'no prompt, but others to call': 'model = "anthropic/claude"\nsub_agents = ["lint"]\n',
  'a table of agents only': 'model = "anthropic/claude"\n[sub_agents_config]\nmax_depth = 2\n',
  'a long prompt first': 'system_prompt = """\n[not a table]\n"""\nmodel = "openai/x"\n',
  'Windows line ends': 'model = "openai/x"\r\nsystem_prompt = "y"\r\n',
};

for (const [what, text] of Object.entries(agents)) {
  test(`${what}: an agent`, () => assert.ok(looksLikeAgent(text)));
}

const others = {
  'a Cargo manifest': '[package]\nname = "a"\nversion = "0.1.0"\n',
  'a model without more': 'model = "openai/gpt-5"\ntemperature = 1\n',
  'a model in a table of something else': '[llm]\nmodel = "openai/gpt-5"\nsystem_prompt = "x"\n',
  'a model that is no provider/name': 'model = "gpt-5"\nsystem_prompt = "x"\n',
  'a prompt that speaks about agents': 'text = """\nmodel = "openai/x"\nsystem_prompt = "y"\n"""\n',
  'a recording': 'version = 1\n[[run]]\nagent = "a"\nmodel = "openai/x"\nsystem = "y"\n',
};

for (const [what, text] of Object.entries(others)) {
  test(`${what}: no agent`, () => assert.ok(!looksLikeAgent(text)));
}
