// What a dialog says before an agent changes something.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Question } from '../src/protocol';
import { dialogOf, sidesOf, subjectOf } from '../src/questions';

function question(changes: Partial<Question> = {}): Question {
  return {
    rootRunId: '1',
    agent: 'lint',
    tool: 'write_file',
    arguments: { path: 'a.txt', content: 'A' },
    reason: 'agent "lint" wants to write a.txt',
    details: '--- /dev/null\n+++ a.txt\n@@ -0,0 +1 @@\n+A',
    ...changes,
  };
}

const command = question({
  tool: 'run_command',
  arguments: { command: 'make test' },
  reason: 'agent "lint" wants to run a command',
  details: 'make test',
});

test('a change is shown whole', () => {
  assert.deepEqual(dialogOf(question()), {
    message: 'agent "lint" wants to write a.txt.',
    detail: '--- /dev/null\n+++ a.txt\n@@ -0,0 +1 @@\n+A',
    document: undefined,
    always: 'Always Allow write_file Here',
  });
});

test('what has no room is shown in the editor', () => {
  const details = ['--- a', '+++ a', ...Array.from({ length: 40 }, (_, line) => `+${line}`)].join('\n');
  const { detail, document } = dialogOf(question({ details }));
  assert.equal(detail.split('\n').length, 26);
  assert.match(detail, /\n… and 17 more lines in the editor$/);
  assert.deepEqual(document, { name: 'lint wants to use write_file.diff', text: details });
});

test('a long command is shown in the editor too', () => {
  const { document } = dialogOf({ ...command, details: 'x\n'.repeat(30) });
  assert.equal(document?.name, 'lint wants to use run_command.sh');
});

test('always is for one command, and for every call of another tool', () => {
  assert.equal(dialogOf(command).always, 'Always Allow This Command Here');
  assert.equal(subjectOf(command), 'run_command: make test');
  assert.notEqual(subjectOf(command), subjectOf({ ...command, arguments: { command: 'make' } }));
  assert.equal(subjectOf(question()), 'write_file');
});

test('a change has two sides, with a line between places that are apart', () => {
  const details = '--- a.txt\n+++ a.txt\n@@ -1,2 +1,2 @@\n same\n-old\n+new\n@@ -9 +9 @@\n-\n+last\n\\ No newline at end of file';
  assert.deepEqual(sidesOf(question({ details })), { name: 'a.txt', before: 'same\nold\n…\n', after: 'same\nnew\n…\nlast' });
  assert.deepEqual(sidesOf(question()), { name: 'a.txt', before: '', after: 'A' });
});

test('a command, and a change that is not told to its end, have none', () => {
  assert.equal(sidesOf(command), undefined);
  assert.equal(sidesOf(question({ details: '--- a\n+++ a\n@@ -1 +1 @@\n+x\n... and 9 more characters' })), undefined);
});
