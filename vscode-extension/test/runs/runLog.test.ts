// The log of a run as a person reads it.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RunLog } from '../../src/runs/runLog';

const told = { turn: 1, callId: '1', stopReason: 'stop', durationMs: 0, inputTokens: 0, outputTokens: 0 };
const manager = { ...told, runId: 'm', rootRunId: 'm', agent: 'manager', depth: 0, seq: 0, time: '' };
const fast = { ...manager, runId: 'f', parentRunId: 'm', agent: 'fast', depth: 1 };
const slow = { ...manager, runId: 's', parentRunId: 'm', agent: 'slow', depth: 1 };
const sums = { durationMs: 1234, inputTokens: 10, outputTokens: 5, turns: 1, toolCalls: 0 };

function written(play: (log: RunLog) => void): string {
  let text = '';
  play(new RunLog((piece) => (text += piece)));
  return text;
}

test('lines are indented by depth and name their agent', () => {
  const text = written((log) => {
    log.agent({ ...manager, kind: 'begin', task: 'Review\nthe change', model: 'openai/m' });
    log.turn({ ...manager, kind: 'begin', turn: 1, messages: 1 });
    log.tool({ ...manager, kind: 'begin', name: 'call_agent', arguments: { agent: 'fast' } });
    log.agent({ ...fast, kind: 'end', status: 'completed', ...sums });
    log.tool({ ...manager, kind: 'end', name: 'call_agent', isError: false, content: 'fine', durationMs: 60 });
  });
  assert.equal(
    text,
    [
      'manager ▶ Review the change (openai/m)',
      'manager · turn 1, 1 message',
      'manager → call_agent fast',
      '  fast ✓ completed in 1.2 s · 1 turn, 0 tool calls, 10 tokens in, 5 out',
      'manager ← call_agent in 0.1 s',
      '',
    ].join('\n'),
  );
});

test('text is written as it arrives, and another line does not run into it', () => {
  const text = written((log) => {
    log.text({ ...fast, turn: 1, delta: 'No bu' });
    log.tool({ ...slow, kind: 'begin', name: 'read_file', arguments: {} });
    log.text({ ...fast, turn: 1, delta: 'gs.\nNone' });
    log.turn({ ...fast, kind: 'end', turn: 1, text: 'No bugs.\nNone' });
  });
  assert.equal(
    text,
    '  fast | No bu\n  slow → read_file {}\n  fast | gs.\n  fast | None\n',
  );
});

test('what a second child says meanwhile appears whole when its turn ends', () => {
  const text = written((log) => {
    log.text({ ...fast, turn: 1, delta: 'No ' });
    log.text({ ...slow, turn: 1, delta: 'Style' });
    log.text({ ...fast, turn: 1, delta: 'bugs.' });
    log.turn({ ...slow, kind: 'end', turn: 1, text: 'Style\nis fine.' });
    log.turn({ ...fast, kind: 'end', turn: 1, text: 'No bugs.' });
  });
  assert.equal(text, '  fast | No bugs.\n  slow | Style\n  slow | is fine.\n');
});

test('who goes on when the first has finished has said nothing in vain', () => {
  const text = written((log) => {
    log.text({ ...fast, turn: 1, delta: 'No bugs.' });
    log.text({ ...slow, turn: 1, delta: 'Style ' });
    log.turn({ ...fast, kind: 'end', turn: 1, text: 'No bugs.' });
    log.text({ ...slow, turn: 1, delta: 'is ' });
    log.text({ ...slow, turn: 1, delta: 'fine.' });
    log.turn({ ...slow, kind: 'end', turn: 1, text: 'Style is fine.' });
  });
  assert.equal(text, '  fast | No bugs.\n  slow | Style is fine.\n');
});

test('what was said before a failure is shown, whoever was writing then', () => {
  const text = written((log) => {
    log.text({ ...fast, turn: 1, delta: 'No bugs.' });
    log.text({ ...slow, turn: 1, delta: 'Style' });
    log.agent({ ...slow, kind: 'end', status: 'failed', error: 'boom', ...sums });
  });
  assert.equal(
    text,
    '  fast | No bugs.\n  slow | Style\n  slow ✗ failed in 1.2 s: boom · 1 turn, 0 tool calls, 10 tokens in, 5 out\n',
  );
});

test('line ends at the end of an answer leave no empty lines, those within it stay', () => {
  const text = written((log) => {
    log.text({ ...fast, turn: 1, delta: 'One\n' });
    log.text({ ...fast, turn: 1, delta: '\n' });
    log.tool({ ...slow, kind: 'begin', name: 'read_file', arguments: {} });
    log.text({ ...fast, turn: 1, delta: 'Two\n\n' });
    log.turn({ ...fast, kind: 'end', turn: 1, text: 'One\n\nTwo\n\n' });
    log.turn({ ...slow, kind: 'end', turn: 1, text: 'Fine.\n' });
  });
  assert.equal(text, '  fast | One\n  slow → read_file {}\n  fast | \n  fast | Two\n  slow | Fine.\n');
});

test('a run without a task, one that was cancelled, and one whose server is gone', () => {
  const begun = { ...manager, kind: 'begin', task: '', model: 'openai/m' } as const;
  const text = written((log) => {
    log.agent(begun);
    log.agent({ ...fast, kind: 'end', status: 'cancelled', error: 'cancelled', ...sums });
    log.text({ ...manager, turn: 1, delta: 'Ready' });
    log.lost(begun);
  });
  assert.equal(
    text,
    [
      'manager ▶ (openai/m)',
      '  fast ✗ cancelled in 1.2 s · 1 turn, 0 tool calls, 10 tokens in, 5 out',
      'manager | Ready',
      'manager ✗ killed: the language server has stopped',
      '',
    ].join('\n'),
  );
});

test('a run whose process is lost in the middle of a sentence gives up its line when it goes on', () => {
  const resumed = { kind: 'resume', task: 'Go', model: '', turn: 1, saved: { turns: 0, toolCalls: 0, inputTokens: 0, outputTokens: 0, durationMs: 0 } } as const;
  const text = written((log) => {
    log.text({ ...fast, turn: 1, delta: 'No ' });
    log.text({ ...slow, turn: 1, delta: 'Sty' });
    log.agent({ ...fast, ...resumed });
    log.agent({ ...slow, ...resumed });
    log.text({ ...slow, turn: 1, delta: 'Style' });
    log.turn({ ...slow, kind: 'end', turn: 1, text: 'Style' });
  });
  assert.equal(
    text,
    [
      '  fast | No ',
      '  fast ▶ resumed at turn 1: Go',
      '  slow | Sty',
      '  slow ▶ resumed at turn 1: Go',
      '  slow | Style',
      '',
    ].join('\n'),
  );
});

test('a failure says why, and a run that failed gives up its line', () => {
  const text = written((log) => {
    log.text({ ...fast, turn: 1, delta: 'No ' });
    log.agent({ ...fast, kind: 'end', status: 'failed', error: 'server: boom', ...sums });
    log.tool({ ...manager, kind: 'end', name: 'call_agent', isError: true, content: 'Error: boom', durationMs: 0 });
    log.text({ ...manager, turn: 2, delta: 'So be it.' });
  });
  assert.equal(
    text,
    [
      '  fast | No ',
      '  fast ✗ failed in 1.2 s: server: boom · 1 turn, 0 tool calls, 10 tokens in, 5 out',
      'manager ← call_agent failed after 0.0 s: Error: boom',
      'manager | So be it.',
    ].join('\n'),
  );
});

test('a request that is sent again is told with its reason', () => {
  const text = written((log) => {
    const what = { attempt: 1, maxAttempts: 3, category: 'rate_limit', message: 'slow\ndown', waitMs: 1500 };
    log.turn({ ...fast, kind: 'retry', ...what });
  });
  assert.equal(text, '  fast ⟳ rate_limit: slow down; sent again in 1.5 s (1 of 3)\n');
});

test('the end tells what a run has cost, and what its tree has', () => {
  const text = written((log) => {
    const tree = { inputTokens: 300, outputTokens: 20, cost: 0.0125 };
    log.agent({ ...fast, kind: 'end', status: 'completed', ...sums, cost: 0.00123 });
    log.agent({ ...manager, kind: 'end', status: 'completed', ...sums, tree });
  });
  assert.equal(
    text,
    [
      '  fast ✓ completed in 1.2 s · 1 turn, 0 tool calls, 10 tokens in, 5 out, $0.0012',
      'manager ✓ completed in 1.2 s · 1 turn, 0 tool calls, 10 tokens in, 5 out, 300 tokens in, 20 out, $0.0125 with all agents',
      '',
    ].join('\n'),
  );
});

test('a request that waits for its provider is told', () => {
  const text = written((log) => log.state({ ...fast, provider: 'openai', waitMs: 1500 }));
  assert.equal(text, '  fast ⟳ openai asked for a pause: waiting for 1.5 s\n');
});

test('a request that is made shorter is told', () => {
  const sizes = { turn: 2, tokensBefore: 9000, tokensAfter: 900 };
  const text = written((log) => log.state({ ...fast, kind: 'shortened', results: 2, ...sizes }));
  assert.equal(text, '  fast ⟳ 2 old tool results shortened, about 9,000 to 900 tokens\n');
});

test('a thought is one line of its own, before the answer', () => {
  const text = written((log) => {
    log.thought({ ...manager, delta: 'Let me\n' });
    log.thought({ ...manager, delta: 'see.' });
    log.text({ ...manager, delta: 'Yes.' });
    log.turn({ ...manager, kind: 'end', text: 'Yes.' });
  });
  assert.equal(text, 'manager ~ Let me see.\nmanager | Yes.\n');
});

test('an answer that is not whole is marked, and so is its run', () => {
  const text = written((log) => {
    log.turn({ ...fast, kind: 'end', text: 'Half a', incomplete: 'length' });
    log.agent({ ...fast, kind: 'end', status: 'completed', ...sums, incomplete: 'length' });
  });
  assert.deepEqual(text.split('\n').slice(0, 2), ['  fast | Half a', '  fast ⚠ cut off at the output limit']);
  assert.match(text, /\n {2}fast ⚠ completed in 1\.2 s: cut off at the output limit · /);
});

test('a run that goes on is told with its next turn', () => {
  const text = written((log) => log.agent({ ...fast, kind: 'resume', task: 'Look\naround', model: 'openai/m', turn: 3 }));
  assert.equal(text, '  fast ▶ resumed at turn 3: Look around (openai/m)\n');
});

test('side runs, waits for them and messages have lines', () => {
  const text = written((log) => {
    log.agent({ ...fast, kind: 'begin', side: 'fast-1', task: 'Lint', model: '' });
    log.agent({ ...manager, kind: 'idle', turn: 2, sideRuns: ['fast-1', 'slow-2'] });
    log.message({ ...manager, kind: 'queued', messageId: 'm', mode: 'after', text: 'And\nb', from: 'person' });
    log.message({ ...manager, kind: 'changed', messageId: 'm', mode: 'now', text: 'c' });
    log.message({ ...manager, kind: 'removed', messageId: 'm' });
    log.message({ ...manager, kind: 'given', turn: 2, sideRuns: ['fast-1'], messageIds: ['m'], text: '' });
  });
  assert.equal(
    text,
    [
      '  fast ▶ side run fast-1: Lint',
      'manager ⟳ waits for fast-1, slow-2',
      'manager ✉ (after) And b',
      'manager ✉ changed (now): c',
      'manager ✉ removed',
      'manager ✉ answer of fast-1 and 1 message for turn 2',
      '',
    ].join('\n'),
  );
});
