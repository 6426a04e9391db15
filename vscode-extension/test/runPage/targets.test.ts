// What links on the page of a run lead to.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { placeOf } from '../../src/runPage/targets';

test('the target of a link is an address of the web, a file with a line, or nothing that is opened', () => {
  assert.deepEqual(placeOf('https://example.org/a#b'), { kind: 'address', address: 'https://example.org/a#b' });
  assert.deepEqual(placeOf('src/a.py:12'), { kind: 'file', path: 'src/a.py', line: 12 });
  assert.deepEqual(placeOf('a.py:12:3'), { kind: 'file', path: 'a.py', line: 12 });
  assert.deepEqual(placeOf('a%20b.md#L7-L9'), { kind: 'file', path: 'a b.md', line: 7 });
  assert.deepEqual(placeOf('C:\\a.md'), { kind: 'file', path: 'C:\\a.md', line: undefined });
  for (const other of ['command:workbench.action.quit', 'vscode://file/a', 'file:///etc/passwd', 'javascript:alert(1)', '#top', '', '//evil.example/share/a', '\\\\evil.example\\share\\a', '%5C%5Cevil.example%5Cshare']) {
    assert.deepEqual(placeOf(other), { kind: 'other' }, other);
  }
});
