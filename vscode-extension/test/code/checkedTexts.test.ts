// When a text counts as checked, by a clock that the test puts forward.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CheckedTexts, QUIET_MS, type Clock } from '../../src/code/checkedTexts';
import { columnOf, digestOf } from '../../src/code/words';

class TestClock implements Clock {
  private time = 0;
  private timers: { at: number; action: () => void }[] = [];

  now(): number {
    return this.time;
  }

  after(ms: number, action: () => void): () => void {
    const timer = { at: this.time + ms, action };
    this.timers.push(timer);
    return () => (this.timers = this.timers.filter((each) => each !== timer));
  }

  async goesBy(ms: number): Promise<void> {
    const end = this.time + ms;
    for (let next = this.next(end); next; next = this.next(end)) {
      this.time = next.at;
      this.timers = this.timers.filter((each) => each !== next);
      next.action();
      await Promise.resolve();
    }
    this.time = end;
    await Promise.resolve();
  }

  private next(end: number): { at: number; action: () => void } | undefined {
    return this.timers.filter(({ at }) => at <= end).sort((one, other) => one.at - other.at)[0];
  }
}

test('a publication before the change does not count', async () => {
  const clock = new TestClock();
  const texts = new CheckedTexts(clock);
  texts.didPublish('a');
  texts.didChange('a');
  const settled = texts.settled('a', 3000);
  await clock.goesBy(3000);
  assert.equal(await settled, false);
});

test('a publication after the change counts once no other follows it', async () => {
  const clock = new TestClock();
  const texts = new CheckedTexts(clock);
  texts.didChange('a');
  let isSettled: boolean | undefined;
  void texts.settled('a', 3000).then((value) => (isSettled = value));
  texts.didPublish('a');
  await clock.goesBy(QUIET_MS - 1);
  texts.didPublish('a');
  await clock.goesBy(QUIET_MS - 1);
  assert.equal(isSettled, undefined);
  await clock.goesBy(1);
  assert.equal(isSettled, true);
  assert.equal(await texts.settled('a', 0), true);
  assert.equal(await texts.settled('b', 0), false);
});

test('no text counts without a publication after its last change and a quiet time, over 1,000 interleavings', async () => {
  let seed = 40;
  const chance = () => (seed = (seed * 1103515245 + 12345) % 2147483648) / 2147483648;
  const counts = { checked: 0, unchecked: 0 };
  for (let number = 0; number < 1000; number++) {
    const clock = new TestClock();
    const texts = new CheckedTexts(clock);
    let changed = 0;
    let published = -Infinity;
    let isSettled: boolean | undefined;
    let fits = false;
    void texts.settled('a', 3000).then((value) => {
      isSettled = value;
      fits = value === (published >= changed && clock.now() - published >= QUIET_MS);
    });
    for (let step = 0; step < 12; step++) {
      await clock.goesBy(Math.floor(chance() * 600));
      if (isSettled !== undefined) {
        break;
      }
      if (chance() < 0.5) {
        changed = clock.now();
        published = -Infinity;
        texts.didChange('a');
      } else {
        published = clock.now();
        texts.didPublish('a');
      }
    }
    await clock.goesBy(3000);
    assert.equal(fits, true, `interleaving ${number}`);
    counts[isSettled ? 'checked' : 'unchecked'] += 1;
  }
  assert.ok(counts.checked > 100);
});

test('a name is found as a whole word', () => {
  assert.equal(columnOf('const ones = one + one', 'one'), 13);
  assert.equal(columnOf('a.b(c)', 'b('), -1);
  assert.equal(columnOf('größe = größer + größe', 'größe'), 0);
  assert.equal(columnOf('ones', 'one'), -1);
});

test('a digest is that of a text with line feeds alone and without a mark', () => {
  assert.equal(digestOf('\uFEFFa\r\nb\r\n'), digestOf('a\nb\n'));
  assert.equal(digestOf(''), 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855');
});
