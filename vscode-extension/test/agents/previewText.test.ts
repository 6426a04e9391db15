import assert from 'node:assert/strict';
import { test } from 'node:test';
import { previewText } from '../../src/agents/previewText';
import type { Preview } from '../../src/agents/protocol';

const PREVIEW: Preview = {
  model: 'm/1',
  workdir: '/work',
  subAgents: ['lint'],
  estimatedTokens: 1500,
  contextWindow: 200_000,
  parts: [
    { kind: 'systemPrompt', name: '', text: 'You help.', tokens: 2 },
    { kind: 'file', name: 'a.md', text: 'A\n', tokens: 1400 },
  ],
};

test('a preview tells how much there is of what, and then all of it', () => {
  assert.equal(
    previewText('reader', PREVIEW),
    `# reader: what would be sent

- Model: m/1
- Working directory: /work
- Sub-agents: lint
- In all about 1,500 tokens, 0.8 % of the 200,000 that the model can take

| part          | tokens |
|---------------|-------:|
| System prompt |      2 |
| File a.md     |  1,400 |

## System prompt · about 2 tokens

You help.

## File a.md · about 1,400 tokens

A
`,
  );
});

test('where a called agent works is said, if that is not where its caller does', () => {
  assert.match(previewText('reader', { ...PREVIEW, isolation: 'a copy of the folder' }), /\n- Isolation: a copy of the folder\n/);
  assert.doesNotMatch(previewText('reader', PREVIEW), /Isolation/);
});

test('what has no effect is named before the prompt', () => {
  assert.match(previewText('reader', { ...PREVIEW, warnings: ['no counterpart for web_search'] }), /\n- Warning: no counterpart for web_search\n\n/);
});

test('nothing is said of a share of what nobody knows, nor that a little is nothing', () => {
  const { contextWindow: _, ...unknown } = PREVIEW;
  assert.match(previewText('reader', unknown), /about 1,500 tokens\n/);
  assert.match(previewText('reader', { ...PREVIEW, estimatedTokens: 10 }), /10 tokens, less than 0\.1 % of/);
});
