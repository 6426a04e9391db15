// What is written in the fields of a form as the object that it means, or what is wrong with it. The server has the last
// word: what a field can't know (conditions between members, formats) is left to it. Knows nothing of VS Code.

import { isObject, type Field, type Json, type Schema } from './fields';

/** By the names of fields. */
export type Texts = Readonly<Record<string, string>>;

export type Reading = { readonly value: Json | undefined } | { readonly problem: string };

export type Result = { readonly input: Readonly<Record<string, Json>> } | { readonly problems: Readonly<Record<string, string>> };

/** Members whose fields are empty are left out. */
export function inputOf(fields: readonly Field[], texts: Texts): Result {
  const input: Record<string, Json> = {};
  const problems: Record<string, string> = {};
  for (const field of fields) {
    const reading = read(field, texts[field.name] ?? '');
    if ('problem' in reading) {
      problems[field.name] = reading.problem;
    } else if (field.name === '') {
      Object.assign(input, reading.value);
    } else if (reading.value !== undefined) {
      input[field.name] = reading.value;
    }
  }
  return Object.keys(problems).length > 0 ? { problems } : { input };
}

/** The texts of the items of a list. */
export function itemTexts(text: string): readonly string[] {
  const items = parsed(text || '[]');
  return Array.isArray(items) ? items.map(asText) : [];
}

/** The texts of the members of a group: as they were at first where nothing was written. */
export function memberTexts({ parts }: Field, text: string): Texts {
  const members = parsed(text || '{}');
  const written = isObject(members) ? Object.entries(members).map(([name, each]) => [name, asText(each)]) : [];
  return { ...Object.fromEntries(parts.map(({ name, initial }) => [name, initial])), ...Object.fromEntries(written) };
}

function asText(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** What one field means; undefined if it is left out. */
export function read(field: Field, text: string): Reading {
  if (field.kind === 'list') {
    return readList(field, itemTexts(text));
  }
  if (field.kind === 'group') {
    return readGroup(field, memberTexts(field, text));
  }
  if (field.kind === 'text' ? text === '' : text.trim() === '') {
    return field.required ? { problem: 'Needed.' } : { value: undefined };
  }
  const value = field.kind === 'text' ? text : parsed(text);
  if (value === undefined) {
    return { problem: field.kind === 'number' ? 'Not a number.' : 'Not valid JSON.' };
  }
  return fitting(value, field);
}

/** Without items it is left out, unless it is needed. */
function readList(field: Field, texts: readonly string[]): Reading {
  const value: Json[] = [];
  for (const [index, text] of texts.entries()) {
    const reading = read(field.parts[0] as Field, text);
    if ('problem' in reading) {
      return { problem: `${index + 1}: ${reading.problem}` };
    }
    value.push(reading.value ?? null);
  }
  return texts.length === 0 && !field.required ? { value: undefined } : fitting(value, field);
}

/** One in which nothing was written is left out, unless it is needed. */
function readGroup(field: Field, texts: Texts): Reading {
  if (!field.required && field.parts.every(({ name, initial }) => texts[name] === initial)) {
    return { value: undefined };
  }
  const result = inputOf(field.parts, texts);
  if ('input' in result) {
    return fitting(result.input, field);
  }
  const [name, problem] = Object.entries(result.problems)[0] ?? ['', ''];
  return { problem: `${name}: ${problem}` };
}

function fitting(value: Json, field: Field): Reading {
  const problem = objection(value, field);
  return problem ? { problem } : { value };
}

function parsed(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

function objection(value: Json, { name, kind, schema }: Field): string | undefined {
  if (name === '' && kind === 'json' && !isObject(value)) {
    return 'Must be an object: {…}.';
  }
  const types = [schema['type'] ?? []].flat() as readonly Json[];
  if (kind !== 'choice' && types.length > 0 && !types.some((type) => isOfType(value, type))) {
    return `Must be ${types.map((type) => TYPES[String(type)] ?? String(type)).join(' or ')}.`;
  }
  return RULES.map((rule) => rule(value, schema)).find((problem) => problem !== undefined);
}

const TYPES: Readonly<Record<string, string>> = {
  integer: 'a whole number',
  number: 'a number',
  string: 'a text in quotes',
  boolean: 'true or false',
  array: 'a list: […]',
  object: 'an object: {…}',
  null: 'null',
};

function isOfType(value: Json, type: Json): boolean {
  switch (type) {
    case 'integer':
      return Number.isInteger(value);
    case 'array':
      return Array.isArray(value);
    case 'object':
      return isObject(value);
    case 'null':
      return value === null;
    default:
      return typeof value === type;
  }
}

type Rule = (value: Json, schema: Schema) => string | undefined;

const RULES: readonly Rule[] = [
  bound('minimum', numberOf, (value, limit) => value >= limit, 'Must be at least'),
  bound('maximum', numberOf, (value, limit) => value <= limit, 'Must be at most'),
  bound('exclusiveMinimum', numberOf, (value, limit) => value > limit, 'Must be more than'),
  bound('exclusiveMaximum', numberOf, (value, limit) => value < limit, 'Must be less than'),
  bound('minLength', lengthOf, (value, limit) => value >= limit, 'Too short; characters needed:'),
  bound('maxLength', lengthOf, (value, limit) => value <= limit, 'Too long; characters allowed:'),
  bound('minItems', itemsOf, (value, limit) => value >= limit, 'Too few; items needed:'),
  bound('maxItems', itemsOf, (value, limit) => value <= limit, 'Too many; items allowed:'),
  (value, { pattern }) =>
    typeof value === 'string' && typeof pattern === 'string' && matches(value, pattern) === false ? `Must match ${pattern}.` : undefined,
];

function bound(keyword: string, measure: (value: Json) => number | undefined, fits: (value: number, limit: number) => boolean, words: string): Rule {
  return (value, schema) => {
    const [measured, limit] = [measure(value), schema[keyword]];
    return measured !== undefined && typeof limit === 'number' && !fits(measured, limit) ? `${words} ${limit}.` : undefined;
  };
}

function numberOf(value: Json): number | undefined {
  return typeof value === 'number' ? value : undefined;
}

/** In code points, as JSON Schema counts. */
function lengthOf(value: Json): number | undefined {
  return typeof value === 'string' ? [...value].length : undefined;
}

function itemsOf(value: Json): number | undefined {
  return Array.isArray(value) ? value.length : undefined;
}

/** Undefined for an expression that only the server understands. */
function matches(value: string, pattern: string): boolean | undefined {
  try {
    return new RegExp(pattern, 'u').test(value);
  } catch {
    return undefined;
  }
}
