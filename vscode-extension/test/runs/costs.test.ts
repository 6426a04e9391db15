// What runs have cost, beside the title of their view.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { costsInWords } from '../../src/runs/costs';
import { RunTree } from '../../src/runs/runTree';
import { past } from './events';

/** A Wednesday. */
const NOW = new Date(2026, 4, 6, 12).getTime();

const HOUR = 3_600_000;

function run(hoursAgo: number, cost?: number) {
  const figures = { inputTokens: 1, outputTokens: 1, ...(cost === undefined ? {} : { cost }) };
  return RunTree.remembered(past(`r${hoursAgo}`, NOW - hoursAgo * HOUR, figures)).root;
}

test('costs are those of today, and of the week since Monday', () => {
  const runs = [run(1, 0.1), run(11, 0.02), run(13, 1), run(59, 2), run(61, 100)];
  assert.equal(costsInWords(runs, NOW, true), '$0.12 today · $3.12 this week');
});

test('a list without the older runs of the week says so', () => {
  assert.equal(costsInWords([run(1, 0.5), run(13, 1)], NOW, false), '$0.50 today · over $1.50 this week');
  assert.equal(costsInWords([run(1, 0.5), run(61, 1)], NOW, false), '$0.50 today · $0.50 this week');
});

test('costs that are not known are left out, and small ones are no zero', () => {
  assert.equal(costsInWords([run(1), run(2, 0)], NOW, true), '');
  assert.equal(costsInWords([run(1, 0.001), run(2)], NOW, true), '<$0.01 today · <$0.01 this week');
});
