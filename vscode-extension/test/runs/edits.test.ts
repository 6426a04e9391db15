// What a run has changed in files, as its page shows it.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AgentBegin, EditedFile, RunEdits } from '../../src/protocol';
import { editsView, mayHaveEdited, turnView } from '../../src/runs/editsInWords';
import { isInside, shownPath } from '../../src/runs/paths';
import { RunTree } from '../../src/runs/runTree';
import { LEAD, Script } from './events';

const NEW: EditedFile = { path: '/w/src/app.py', kind: 'added', added: 3, removed: 0 };
const OTHER: EditedFile = { path: '/w/notes.txt', kind: 'modified', added: 1, removed: 2 };

function viewOf(edits: Partial<RunEdits>) {
  const none: RunEdits = { files: [], left: [], turns: [], hasCommands: false, isRunning: false };
  return editsView({ ...none, ...edits }, (path) => shownPath(path, ['', '/w']));
}

test('a bar has the lines of all files, and each file by its path in the workspace', () => {
  const view = viewOf({ files: [OTHER, NEW] });
  assert.deepEqual([view?.summary, view?.added, view?.removed, view?.remarks], ['2 files', '+4', '−2', []]);
  assert.deepEqual(
    view?.files.map(({ path, added, removed, remark }) => [path, added, removed, remark]),
    [
      ['notes.txt', '+1', '−2', ''],
      ['src/app.py', '+3', '', 'new'],
    ],
  );
  assert.deepEqual([view?.canReview, view?.canUndo], [true, true]);
});

test('a run without changes has no bar, unless commands may have made some', () => {
  assert.equal(viewOf({}), undefined);
  assert.deepEqual(viewOf({ hasCommands: true })?.remarks, ['Changes by commands are not known.']);
});

test('while a run works its changes can be reviewed, and not undone', () => {
  const view = viewOf({ files: [NEW], isRunning: true });
  assert.deepEqual([view?.canReview, view?.canUndo, view?.files[0]?.canUndo], [true, false, false]);
});

test('a bar says of which files lines are not known, and why undo leaves one', () => {
  const large: EditedFile = { path: '/w/large.bin', kind: 'modified' };
  const view = viewOf({ files: [large, NEW], left: [{ path: large.path, reason: 'it has changed since' }] });
  assert.deepEqual(view?.remarks, ['The lines of 1 file are not known: too large, no text, or changed by others.']);
  const [first] = view?.files ?? [];
  assert.equal(first?.remark, 'lines not known, undo leaves it: it has changed since');
  assert.deepEqual([first?.canReview, first?.canUndo, view?.canUndo], [false, false, true]);
});

test('what was put back is not counted, and not undone again', () => {
  const back: EditedFile = { ...NEW, isUndone: true };
  const [first] = viewOf({ files: [back, OTHER] })?.files ?? [];
  assert.deepEqual([first?.remark, first?.added, first?.isThere, first?.canUndo], ['put back', '', false, false]);
  assert.deepEqual([viewOf({ files: [back, OTHER] })?.summary, viewOf({ files: [back] })?.summary], ['1 file', '1 file, put back']);
});

test('the bar of a turn has its lines, and is gone when they are as before', () => {
  const turn = { runId: 'l', turn: 2, files: 1, added: 3, removed: 0, uncounted: 0 };
  const view = turnView(turn, false);
  assert.deepEqual([view?.summary, view?.added, view?.removed, view?.canUndo], ['1 file', '+3', '', true]);
  assert.equal(turnView(turn, true)?.canUndo, false);
  assert.equal(turnView({ ...turn, files: 0 }, false), undefined);
  assert.equal(turnView(undefined, false), undefined);
});

test('a path outside of all folders is whole', () => {
  assert.equal(shownPath('/other/a.txt', ['/w', '']), '/other/a.txt');
  assert.equal(shownPath('/w..x/a.txt', ['/w']), '/w..x/a.txt');
  assert.equal(shownPath('/w/..a.txt', ['/w']), '..a.txt');
});

test('a run took place in a folder of the window if that is its workspace, or above it', () => {
  assert.ok(isInside('/w', ['/w']));
  assert.ok(isInside('/w/src', ['', '/w']));
  assert.ok(!isInside('/w2', ['/w']));
  assert.ok(!isInside('/', ['/w']));
});

test('files are looked at again after each call of a tool that may change one, and at the end of a run', () => {
  const script = new Script().begin(LEAD, 'Go');
  const tree = RunTree.begun(script.events[0]?.params as AgentBegin);
  const looks = (add: (script: Script) => unknown) => {
    add(script);
    const event = script.events.at(-1);
    return event ? tree.take(event).some(mayHaveEdited) : false;
  };
  assert.ok(!looks((all) => all.turn(LEAD, 1)));
  assert.ok(!looks((all) => all.call(LEAD, 1, 'r', 'read_file', {})));
  assert.ok(!looks((all) => all.result(LEAD, 1, 'r', 'read_file', '')));
  assert.ok(!looks((all) => all.call(LEAD, 1, 'w', 'write_file', {})));
  assert.ok(looks((all) => all.result(LEAD, 1, 'w', 'write_file', '')));
  assert.ok(looks((all) => all.end(LEAD)));
});
