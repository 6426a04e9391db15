// How agents are grouped in the view, and what their rows say.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Agent } from '../../src/agents/protocol';
import { objection } from '../../src/agents/names';
import { descriptionOf, groupsOf, problemsText, spokenRow } from '../../src/agents/rows';

function agent(name: string, changes: Partial<Agent> = {}): Agent {
  const uri = `file:///work/axe/agents/${name}.toml`;
  return { name, uri, scope: 'workspace', description: '', model: 'm/1', subAgents: [], tools: [], ...changes };
}

const FOLDERS = [
  { name: 'work', uri: 'file:///work' },
  { name: 'inner', uri: 'file:///work/inner' },
];

test('agents stand below the folder that they lie in, the user’s own and the built-in ones below their own heading', () => {
  const agents = [
    agent('a'),
    agent('b', { uri: 'file:///work/inner/axe/agents/b.toml' }),
    agent('c', { uri: 'file:///bots/c.toml' }),
    agent('d', { uri: 'file:///home/.config/axe/agents/d.toml', scope: 'user' }),
    agent('plan', { uri: null, scope: 'builtin' }),
  ];
  const groups = groupsOf(agents, FOLDERS);
  const rows = groups.map(({ label, isOpen, agents }) => [label, isOpen, agents.map((row) => row.agent.name).join()]);
  assert.deepEqual(rows, [
    ['work', true, 'a'],
    ['inner', true, 'b'],
    ['Further folders', true, 'c'],
    ['Your own', true, 'd'],
    ['Built in', false, 'plan'],
  ]);
});

test('where there is nobody to call the built-in ones, no row hides how to begin', () => {
  assert.deepEqual(groupsOf([agent('plan', { uri: null, scope: 'builtin' })], FOLDERS), []);
});

test('a folder whose name begins like another one’s is not that one', () => {
  const groups = groupsOf([agent('a', { uri: 'file:///work/innermost/axe/agents/a.toml' })], FOLDERS);
  assert.deepEqual(groups.map(({ label }) => label), ['work']);
});

test('rows of one name are told apart', () => {
  const twice = [agent('plan'), agent('plan', { uri: null, scope: 'builtin' })];
  const ids = groupsOf(twice, FOLDERS).flatMap(({ agents }) => agents.map(({ id }) => id));
  assert.equal(new Set(ids).size, 2);
});

test('a row says model and description, and aloud what is wrong', () => {
  const one = agent('lint', { description: 'finds faults' });
  assert.equal(descriptionOf(one), 'm/1 · finds faults');
  assert.equal(descriptionOf(agent('plan', { model: '' })), '');
  assert.equal(spokenRow(one, { errors: 1, warnings: 2 }), 'lint, 1 error, 2 warnings, m/1, finds faults');
  assert.equal(problemsText({ errors: 0, warnings: 0 }), '');
});

test('why a name will not do', () => {
  assert.equal(objection('lint', ['style']), undefined);
  for (const [name, why] of [
    [' ', /needs a name/],
    ['a/b', /slashes/],
    ['a..b', /slashes/],
    ['a ', /white space/],
    ['a.toml', /Leave out/],
    ['Style', /already/],
  ] as const) {
    assert.match(objection(name, ['style']) ?? '', why);
  }
});
