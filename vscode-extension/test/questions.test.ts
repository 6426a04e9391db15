// What is said before an agent changes something.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Inquiry, Question } from '../src/protocol';
import { alwaysOf, changeOf, documentName, documentText, fitsMessage, forRunLabel, isEdit, messageOf, purposeOf, subjectOf, withoutIcons, withoutLinks } from '../src/questions';

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
    assert.match(messageOf(long), /wants to (run a command|write a\.txt)\.( One line of it has 301 characters\.)?$/, 'a part of it would look like all of it');
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

test('each message of VS Code is freed of links by messages.ts', () => {
  const files = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts') && name !== 'messages.ts');
  assert.ok(files.length > 50);
  const bypasses = files.filter((name) => /show(Information|Warning|Error)Message/.test(readFileSync(join('src', name), 'utf8')));
  assert.deepEqual(bypasses, []);
  const helper = readFileSync('src/messages.ts', 'utf8');
  assert.equal(helper.match(/Message\(withoutLinks\(message\)/g)?.length, helper.match(/window\.show/g)?.length);
});

test('always is for the same again, and says what that is', () => {
  const write = question({ subject: 'a', forRun: 'this file' });
  assert.deepEqual(alwaysOf(write), {
    label: 'Always Allow This File Here',
    detail: 'write_file, this file with any content, by any agent in this workspace',
  });
  const call = question({ tool: 'issues/create', subject: 'b', forRun: 'this call' });
  assert.equal(alwaysOf(call)?.detail, 'issues/create, exactly this call, by any agent in this workspace');
  assert.equal(alwaysOf({ ...command, subject: 'c', forRun: 'this command' })?.label, 'Always Allow This Command Here');
  assert.equal(subjectOf(write), 'write_file: a');
  assert.equal(alwaysOf(question({ tool: 'trust' })), undefined, 'the server remembers trust');
  assert.equal(subjectOf(question()), undefined, 'what has no subject is the same as nothing else');
});

test('all edits are those of files by our tools, and no protected places, commands or questions about trust', () => {
  assert.ok(isEdit(question({ subject: '/w/a.txt', forRun: 'this file' })));
  assert.ok(!isEdit(question()), 'a protected place has no subject');
  assert.ok(!isEdit({ ...command, subject: 'make test', forRun: 'this command' }));
});

test('what would lie beyond the edge of a document is said', () => {
  const padded = { ...command, details: `git status${' '.repeat(1500)}; rm -r x` };
  assert.equal(messageOf(padded), 'agent "lint" wants to run a command. One line of it has 1,519 characters.');
  assert.equal(documentText(padded), padded.details);
});

test('what VS Code would cut off a message is in the document', () => {
  const long = question({ reason: `agent "lint" wants to write ${'a/'.repeat(300)}b`, change: { path: 'b', before: '', after: 'A' } });
  assert.ok(!fitsMessage(long));
  assert.match(messageOf(long), /^agent "lint" wants to use write_file: read in the document what for\. One line/);
  assert.equal(changeOf(long), undefined, 'the title of a diff is cut, too');
  assert.equal(documentText(long), `${long.reason}\n\n${long.details}`);
  assert.deepEqual(changeOf({ ...long, reason: 'agent "lint" wants to write b' }), long.change);
});

test('the answer for the run says what it allows', () => {
  assert.equal(forRunLabel(question({ forRun: 'this command' })), 'Allow This Command for This Run');
  assert.equal(forRunLabel(question({ forRun: 'this file' })), 'Allow This File for This Run');
  assert.equal(forRunLabel(question()), 'Allow for This Run');
});

test('a question of a model stands in the message, or in a document if it is long', () => {
  const inquiry: Inquiry = { runId: '2', rootRunId: '1', agent: 'lint', reason: 'agent "lint" asks', question: 'Which one?' };
  assert.equal(messageOf(inquiry), 'agent "lint" asks: Which one?');
  assert.equal(purposeOf(inquiry), 'asks: Which one?');
  const ofServer = { ...inquiry, reason: 'MCP server "git" of agent "lint" asks' };
  assert.equal(purposeOf(ofServer), 'MCP server "git" of agent "lint" asks: Which one?');
  assert.equal(messageOf(ofServer), 'MCP server "git" of agent "lint" asks: Which one?');
  for (const long of ['Which\none?', 'x'.repeat(301)]) {
    const asked = { ...inquiry, question: long };
    assert.ok(!fitsMessage(asked));
    assert.equal(messageOf(asked), 'agent "lint" asks: read the document.');
    assert.equal(documentText(asked), long);
  }
  assert.equal(documentName(inquiry), 'lint asks.txt');
});
