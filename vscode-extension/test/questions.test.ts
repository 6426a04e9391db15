// What a dialog says before an agent changes something.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Question } from '../src/protocol';
import { dialogOf, subjectOf } from '../src/questions';

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
