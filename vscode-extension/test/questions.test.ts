// What is said before an agent changes something.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Question } from '../src/protocol';
import { alwaysLabel, documentName, fitsMessage, forRunLabel, messageOf, purposeOf, subjectOf, withoutIcons, withoutLinks } from '../src/questions';

function question(changes: Partial<Question> = {}): Question {
  return {
    runId: '2',
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

test('a short command stands in the message, whole', () => {
  assert.ok(fitsMessage(command));
  assert.equal(messageOf(command), 'agent "lint" wants to run a command: make test');
  assert.equal(purposeOf(command), 'wants to run a command: make test');
});

test('a change, or a command of several lines or many characters, is shown in a document', () => {
  for (const long of [question(), { ...command, details: 'a\nb' }, { ...command, details: 'x'.repeat(301) }]) {
    assert.ok(!fitsMessage(long));
    assert.equal(messageOf(long), `${long.reason}.`, 'a part of it would look like all of it');
  }
  assert.equal(documentName(question()), 'lint wants to use write_file.diff');
  assert.equal(documentName(command), 'lint wants to use run_command.sh');
});

test('what an agent wrote is neither a link nor an icon', () => {
  const link = /\[[^\]]+\]\((command|https?):/;
  assert.match('[ok](command:axeLsp.stop)', link);
  assert.doesNotMatch(withoutLinks('touch [ok](command:axeLsp.stop)'), link);
  assert.equal(withoutIcons('rm -r $(home)'), 'rm -r \\$(home)');
});

test('always is for one command, and for every call of another tool', () => {
  assert.equal(alwaysLabel(command), 'Always Allow This Command Here');
  assert.equal(alwaysLabel(question()), 'Always Allow write_file Here');
  assert.equal(subjectOf(command), 'run_command: make test');
  assert.notEqual(subjectOf(command), subjectOf({ ...command, arguments: { command: 'make' } }));
  assert.equal(subjectOf(question()), 'write_file');
});

test('the answer for the run says what it allows', () => {
  assert.equal(forRunLabel(question({ forRun: 'this command' })), 'Allow This Command for This Run');
  assert.equal(forRunLabel(question({ forRun: 'this file' })), 'Allow This File for This Run');
  assert.equal(forRunLabel(question()), 'Allow for This Run');
});
