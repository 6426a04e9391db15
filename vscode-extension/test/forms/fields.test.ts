// Forms from JSON Schemas: which fields there are, and what is made of what is written in them.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fieldsOf, type Field, type Schema } from '../../src/forms/fields';
import { inputOf, read } from '../../src/forms/values';

const SCHEMA: Schema = {
  required: ['path', 'fast'],
  properties: {
    lines: { type: 'integer', minimum: 1, description: 'How many.' },
    path: { type: 'string', title: 'File', maxLength: 5, pattern: '^[a-z]' },
    fast: { type: 'boolean' },
    mode: { enum: ['short', 'long', 3], default: 'long' },
    deep: { type: 'boolean' },
    names: { type: 'array', items: { type: 'string' }, minItems: 1 },
    size: { $ref: '#/$defs/size' },
  },
  $defs: { size: { type: 'number', exclusiveMaximum: 2, default: 1.5 } },
};

const FIELDS = fieldsOf(SCHEMA);

function field(name: string): Field {
  const found = FIELDS.find((each) => each.name === name);
  assert.ok(found, name);
  return found;
}

test('each property is a field, those that are needed first', () => {
  const shown = FIELDS.map(({ name, label, kind, required, initial }) => [name, label, kind, required, initial]);
  assert.deepEqual(shown, [
    ['path', 'File', 'text', true, ''],
    ['fast', 'fast', 'tick', true, 'false'],
    ['lines', 'lines', 'number', false, ''],
    ['mode', 'mode', 'choice', false, '"long"'],
    ['deep', 'deep', 'choice', false, ''],
    ['names', 'names', 'list', false, ''],
    ['size', 'size', 'number', false, '1.5'],
  ]);
  assert.equal(field('lines').description, 'How many.');
  assert.deepEqual(field('mode').choices, ['short', 'long', 3]);
});

test('what is written becomes the object, with the types of the schema; empty fields are left out', () => {
  const texts = { path: 'a\nb', fast: 'true', lines: '3', mode: '3', names: '["x"]', size: ' ', deep: 'false' };
  assert.deepEqual(inputOf(FIELDS, texts), {
    input: { path: 'a\nb', fast: true, lines: 3, mode: 3, names: ['x'], deep: false },
  });
});

test('what does not fit is told at its field', () => {
  for (const [name, text, problem] of [
    ['path', '', 'Needed.'],
    ['path', 'a😀😀😀😀😀', 'Too long; characters allowed: 5.'],
    ['path', 'A', 'Must match ^[a-z].'],
    ['lines', 'three', 'Not a number.'],
    ['lines', '1.5', 'Must be a whole number.'],
    ['lines', '0', 'Must be at least 1.'],
    ['size', '2', 'Must be less than 2.'],
    ['names', '["x", ""]', '2: Needed.'],
  ] as const) {
    assert.deepEqual(read(field(name), text), { problem }, `${name}: ${text}`);
  }
  assert.deepEqual(inputOf(FIELDS, { path: 'a', fast: 'true', lines: 'x' }), { problems: { lines: 'Not a number.' } });
  assert.deepEqual(read(field('path'), 'a😀😀😀😀'), { value: 'a😀😀😀😀' });
});

test('lists and groups are fields of fields, as deep as a reader can follow', () => {
  const schema: Schema = {
    required: ['points'],
    properties: {
      points: { type: 'array', minItems: 2, items: { type: 'object', required: ['x'], properties: { x: { type: 'number' }, tags: { type: 'array', items: { enum: ['a', 'b'] } } } }, default: [{ x: 1, tags: ['b'] }] },
      box: { type: 'object', required: ['w'], properties: { w: { type: 'integer' }, on: { type: 'boolean', default: true } } },
      pair: { type: 'array', prefixItems: [{ type: 'string' }], items: { type: 'string' } },
      any: { type: 'array' },
    },
  };
  const fields = fieldsOf(schema);
  const [points, box] = fields as [Field, Field];
  assert.deepEqual(fields.map(({ kind }) => kind), ['list', 'group', 'json', 'json']);
  assert.deepEqual(points.parts[0]?.parts.map(({ name, kind, required }) => [name, kind, required]), [['x', 'number', true], ['tags', 'list', false]]);

  const item = (x: string, tags?: string) => JSON.stringify({ x, ...(tags ? { tags } : {}) });
  const two = JSON.stringify([item('1', JSON.stringify(['"b"'])), item('2')]);
  assert.deepEqual(read(points, two), { value: [{ x: 1, tags: ['b'] }, { x: 2 }] });
  assert.deepEqual(read(points, points.initial), { problem: 'Too few; items needed: 2.' });
  assert.deepEqual(read(points, JSON.stringify([item('1'), item('no')])), { problem: '2: x: Not a number.' });
  assert.deepEqual(read(box, ''), { value: undefined });
  assert.deepEqual(read(box, '{"on": "false"}'), { problem: 'w: Needed.' });
  assert.deepEqual(read(box, '{"w": "3"}'), { value: { w: 3, on: true } });
});

test('a list that contains itself ends in JSON', () => {
  const schema: Schema = { properties: { tree: { $ref: '#/$defs/tree' } }, $defs: { tree: { type: 'object', properties: { name: { type: 'string' }, below: { type: 'array', items: { $ref: '#/$defs/tree' } } } } } };
  const kinds: string[] = [];
  for (let field = fieldsOf(schema)[0]; field; field = field.kind === 'list' ? field.parts[0] : field.parts.find(({ name }) => name === 'below')) {
    kinds.push(field.kind);
  }
  assert.deepEqual(kinds, ['group', 'list', 'group', 'json']);
});

test('a schema without properties is one field for the whole object', () => {
  const fields = fieldsOf({ minProperties: 1 });
  assert.deepEqual(fields.map(({ name, kind, initial }) => [name, kind, initial]), [['', 'json', '{}']]);
  assert.deepEqual(inputOf(fields, { '': '{"a": 1}' }), { input: { a: 1 } });
  assert.deepEqual(inputOf(fields, { '': '[1]' }), { problems: { '': 'Must be an object: {…}.' } });
});

test('a reference that leads nowhere or round in circles is JSON of any kind', () => {
  const schema: Schema = { properties: { a: { $ref: '#/$defs/none' }, b: { $ref: '#/properties/b' } } };
  assert.deepEqual(fieldsOf(schema).map(({ kind }) => kind), ['json', 'json']);
});

test('an expression that a browser does not know is left to the server', () => {
  const [odd] = fieldsOf({ properties: { a: { type: 'string', pattern: '(?P<x>a)' } } });
  assert.ok(odd);
  assert.deepEqual(read(odd, 'b'), { value: 'b' });
});
