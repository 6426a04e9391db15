// A JSON Schema as the fields of a form. Knows nothing of VS Code, nor of how fields look.

export type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };

export type Schema = { readonly [keyword: string]: Json };

/**
 * How a field is filled in: a text, a number, one of a few, a box to tick, a list of fields of one kind, a group of fields with
 * names, or JSON for everything else.
 */
export type Kind = 'text' | 'number' | 'choice' | 'tick' | 'list' | 'group' | 'json';

/** Levels of lists and groups in each other that a reader can follow; what is deeper is JSON. */
const DEEPEST = 4;

export interface Field {
  /** The member of the object; empty for the object as a whole. */
  readonly name: string;
  readonly label: string;
  readonly description: string;
  readonly kind: Kind;
  readonly required: boolean;
  /** What the field says before anybody has written in it. */
  readonly initial: string;
  /** Each as JSON; the texts of the options. */
  readonly choices: readonly Json[];
  /** The members of a group; of a list the one field that each item has. */
  readonly parts: readonly Field[];
  /** What else a value has to be, resolved. */
  readonly schema: Schema;
}

/** A field for each property, those that are required first; one for all of it if the schema names no properties. */
export function fieldsOf(schema: Schema): Field[] {
  const fields = membersOf(schema, schema, 1);
  return fields.length > 0 ? fields : [{ ...fieldOf('', schema, true, schema, DEEPEST), label: 'Input', kind: 'json', initial: '{}' }];
}

/** How a value stands in a field. That of a list or a group has the texts of its parts, as JSON. */
export function textOf(field: Field, value: Json): string {
  const [item] = field.parts;
  if (field.kind === 'list' && item && Array.isArray(value)) {
    return JSON.stringify(value.map((each) => textOf(item, each)));
  }
  if (field.kind === 'group' && isObject(value)) {
    return JSON.stringify(Object.fromEntries(field.parts.flatMap((part) => (part.name in value ? [[part.name, textOf(part, value[part.name] as Json)]] : []))));
  }
  return field.kind === 'text' && typeof value === 'string' ? value : JSON.stringify(value, null, field.kind === 'json' ? 2 : 0);
}

function membersOf(schema: Schema, root: Schema, level: number): Field[] {
  const required = Array.isArray(schema['required']) ? schema['required'] : [];
  const fields = Object.entries(objectAt(schema, 'properties')).map(([name, each]) => fieldOf(name, resolved(each, root), required.includes(name), root, level));
  return [...fields.filter((field) => field.required), ...fields.filter((field) => !field.required)];
}

function fieldOf(name: string, schema: Schema, required: boolean, root: Schema, level: number): Field {
  const choices = choicesOf(schema, required);
  const parts = level < DEEPEST && choices.length === 0 ? partsOf(schema, root, level + 1) : [];
  const field: Field = {
    name,
    label: typeof schema['title'] === 'string' ? schema['title'] : name,
    description: typeof schema['description'] === 'string' ? schema['description'] : '',
    kind: parts.length > 0 ? (schema['type'] === 'array' ? 'list' : 'group') : kindOf(schema, choices, required),
    required,
    initial: '',
    choices,
    parts,
    schema,
  };
  const usual = schema['default'] ?? (field.kind === 'tick' ? false : undefined);
  return usual === undefined ? field : { ...field, initial: textOf(field, usual) };
}

/** What a list or a group is filled in with; nothing if only JSON can say it. */
function partsOf(schema: Schema, root: Schema, level: number): readonly Field[] {
  switch (schema['type']) {
    case 'array': {
      const items = schema['prefixItems'] === undefined && isObject(schema['items']) ? resolved(schema['items'], root) : undefined;
      const item = items && fieldOf('', items, true, root, level);
      return item && item.kind !== 'json' ? [item] : [];
    }
    case 'object':
      return membersOf(schema, root, level);
    default:
      return [];
  }
}

function kindOf(schema: Schema, choices: readonly Json[], required: boolean): Kind {
  if (choices.length > 0) {
    return 'choice';
  }
  switch (schema['type']) {
    case 'string':
      return 'text';
    case 'integer':
    case 'number':
      return 'number';
    case 'boolean':
      return required || schema['default'] !== undefined ? 'tick' : 'choice';
    default:
      return 'json';
  }
}

/** A yes or no that may be left open is a choice, since a box can't say that. */
function choicesOf(schema: Schema, required: boolean): readonly Json[] {
  if (Array.isArray(schema['enum'])) {
    return schema['enum'];
  }
  if (schema['const'] !== undefined) {
    return [schema['const']];
  }
  return schema['type'] === 'boolean' && !required && schema['default'] === undefined ? [true, false] : [];
}

/** Follows references within the schema; what a reference says beside its target counts too. */
function resolved(schema: Json | undefined, root: Schema, depth = 0): Schema {
  if (!isObject(schema)) {
    return {};
  }
  const reference = schema['$ref'];
  if (typeof reference !== 'string' || !reference.startsWith('#/') || depth > 10) {
    return schema;
  }
  const path = reference.slice(2).split('/').map((part) => decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~'));
  const target = path.reduce<Json | undefined>((found, part) => (isObject(found) ? found[part] : undefined), root);
  const { $ref: _, ...own } = schema;
  return { ...resolved(target, root, depth + 1), ...own };
}

function objectAt(schema: Schema, keyword: string): { readonly [name: string]: Json } {
  const found = schema[keyword];
  return isObject(found) ? found : {};
}

export function isObject(value: Json | undefined): value is { readonly [name: string]: Json } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
