// A JSON Schema as the fields of a form. Knows nothing of VS Code, nor of how fields look.

export type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };

export type Schema = { readonly [keyword: string]: Json };

/** How a field is filled in: a text, a number, one of a few, a box to tick, or JSON for everything else. */
export type Kind = 'text' | 'number' | 'choice' | 'tick' | 'json';

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
  /** What else a value has to be, resolved. */
  readonly schema: Schema;
}

/** A field for each property, those that are required first; one for all of it if the schema names no properties. */
export function fieldsOf(schema: Schema): Field[] {
  const properties = objectAt(schema, 'properties');
  const required = Array.isArray(schema['required']) ? schema['required'] : [];
  const fields = Object.entries(properties).map(([name, each]) => fieldOf(name, resolved(each, schema), required.includes(name)));
  if (fields.length === 0) {
    return [{ ...fieldOf('', schema, true), label: 'Input', kind: 'json', initial: '{}' }];
  }
  return [...fields.filter((field) => field.required), ...fields.filter((field) => !field.required)];
}

/** How a value stands in a field. */
export function textOf(field: Field, value: Json): string {
  return field.kind === 'text' && typeof value === 'string' ? value : JSON.stringify(value, null, field.kind === 'json' ? 2 : 0);
}

function fieldOf(name: string, schema: Schema, required: boolean): Field {
  const choices = choicesOf(schema, required);
  const field: Field = {
    name,
    label: typeof schema['title'] === 'string' ? schema['title'] : name,
    description: typeof schema['description'] === 'string' ? schema['description'] : '',
    kind: kindOf(schema, choices, required),
    required,
    initial: '',
    choices,
    schema,
  };
  const usual = schema['default'] ?? (field.kind === 'tick' ? false : undefined);
  return usual === undefined ? field : { ...field, initial: textOf(field, usual) };
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
