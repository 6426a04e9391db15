// The fields of a form as a reader fills them in: controls, lists with rows that come and go, groups.

import type { Field } from '../../../forms/fields';
import { itemTexts, memberTexts, read } from '../../../forms/values';
import { element } from '../elements';

/** A field as it stands on the page. */
export interface Entry {
  readonly top: HTMLElement;
  text(): string;
  /** Says what is wrong, in it or with it; whether nothing is. */
  complain(): boolean;
  /** Leads to what is wrong, else to its first control. */
  focus(): void;
  /** Gives it another label, as when an item of a list moves up. */
  rename(label: string): void;
  /** Puts a text behind what is written in a field for text, and selects it. */
  add?(text: string): void;
}

type Control = HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement;

const MOST_LINES = 16;
let lastId = 0;

/** `onChange` is called after each change. */
export function entryOf(field: Field, text: string, onChange: () => void): Entry {
  switch (field.kind) {
    case 'list':
      return listEntry(field, text, onChange);
    case 'group':
      return groupEntry(field, text, onChange);
    default:
      return controlEntry(field, text, onChange);
  }
}

// -- one control

function controlEntry(field: Field, text: string, onChange: () => void): Entry {
  const id = `field${lastId++}`;
  const made = control(field, id, text);
  const name = labelText(field);
  const label = element('label', { for: id }, name, ...markOf(field));
  const { description, wrong, say } = notes(field, id);
  const now = () => (made instanceof HTMLInputElement && made.type === 'checkbox' ? String(made.checked) : made.value);
  const complain = () => {
    const isFine = say(problemOf(field, now()));
    made.setAttribute('aria-invalid', String(!isFine));
    return isFine;
  };
  made.addEventListener('blur', complain);
  made.addEventListener('input', () => {
    onChange();
    if (wrong.textContent) {
      complain();
    }
  });
  const parts = field.kind === 'tick' ? [element('div', { class: 'ticked' }, made, label)] : [label, made];
  return {
    top: element('div', { class: 'row' }, ...parts, ...description, wrong),
    text: now,
    complain,
    focus: () => made.focus(),
    rename: (text) => (name.textContent = text),
    ...(made instanceof HTMLTextAreaElement && { add: (text: string) => append(made, text) }),
  };
}

/** The added text is selected, so that a reader who does not want both takes it away with a key. */
function append(made: HTMLTextAreaElement, text: string): void {
  const before = made.value.trimEnd();
  const start = before && `${before}\n\n`;
  made.value = `${start}${text}`;
  made.focus();
  made.setSelectionRange(start.length, made.value.length);
  made.dispatchEvent(new Event('input'));
}

function control(field: Field, id: string, text: string): Control {
  const common = { id, name: field.name, 'aria-describedby': described(field, id), ...(field.required ? { 'aria-required': 'true' } : {}) };
  switch (field.kind) {
    case 'tick': {
      const made = element('input', { ...common, type: 'checkbox' });
      made.checked = text === 'true';
      return made;
    }
    case 'choice':
      return choice(field, common, text);
    case 'number': {
      const made = element('input', { ...common, type: 'text', inputmode: 'decimal' });
      made.value = text;
      return made;
    }
    default:
      return area(common, text, field.kind === 'json');
  }
}

function choice(field: Field, attributes: Record<string, string>, text: string): HTMLSelectElement {
  const shown = (value: unknown) => (value === true ? 'yes' : value === false ? 'no' : typeof value === 'string' ? value : JSON.stringify(value));
  const options = field.choices.map((value) => element('option', { value: JSON.stringify(value) }, shown(value)));
  const none = element('option', { value: '' }, field.required ? '' : '(left out)');
  const made = element('select', attributes, none, ...options);
  made.value = text;
  return made;
}

/** Grows with what is written in it. */
function area(attributes: Record<string, string>, text: string, isCode: boolean): HTMLTextAreaElement {
  const made = element('textarea', { ...attributes, ...(isCode ? { class: 'code', spellcheck: 'false' } : {}) });
  const grow = () => (made.rows = Math.min(Math.max(made.value.split('\n').length, isCode ? 3 : 1), MOST_LINES));
  made.value = text;
  made.addEventListener('input', grow);
  grow();
  return made;
}

// -- fields of fields

function listEntry(field: Field, text: string, onChange: () => void): Entry {
  const item = field.parts[0] as Field;
  const rows = element('div', {});
  const entries: { readonly entry: Entry; readonly row: HTMLElement; readonly remove: HTMLButtonElement }[] = [];
  const add = element('button', { type: 'button' }, 'Add');
  let label = field.label;
  const number = () => {
    add.setAttribute('aria-label', `Add to ${label}`);
    entries.forEach(({ entry, remove }, index) => {
      entry.rename(`${label} ${index + 1}`);
      remove.setAttribute('aria-label', `Remove ${label} ${index + 1}`);
    });
  };
  const put = (written: string): Entry => {
    const entry = entryOf({ ...item, label: `${label} ${entries.length + 1}` }, written, onChange);
    const remove = element('button', { type: 'button', class: 'remove' }, '✕');
    const row = element('div', { class: 'item' }, entry.top, remove);
    const made = { entry, row, remove };
    remove.addEventListener('click', () => {
      const index = entries.indexOf(made);
      entries.splice(index, 1);
      row.remove();
      number();
      onChange();
      (entries[Math.min(index, entries.length - 1)]?.entry ?? add).focus();
    });
    entries.push(made);
    rows.append(row);
    number();
    return entry;
  };
  add.addEventListener('click', () => {
    put(item.initial).focus();
    onChange();
  });
  const now = () => JSON.stringify(entries.map(({ entry }) => entry.text()));
  number();
  itemTexts(text).forEach(put);
  const all = () => entries.map(({ entry }) => entry);
  return inFieldset(field, all, now, [rows, add], add, (text) => {
    label = text;
    number();
  });
}

function groupEntry(field: Field, text: string, onChange: () => void): Entry {
  const texts = memberTexts(field, text);
  const members = field.parts.map((part) => ({ part, entry: entryOf(part, texts[part.name] ?? part.initial, onChange) }));
  const now = () => JSON.stringify(Object.fromEntries(members.map(({ part, entry }) => [part.name, entry.text()])));
  const entries = members.map(({ entry }) => entry);
  return inFieldset(field, () => entries, now, entries.map(({ top }) => top), undefined, () => undefined);
}

/** Fields with a common name. `otherwise` gets the focus where none of them can. */
function inFieldset(
  field: Field,
  entries: () => readonly Entry[],
  text: () => string,
  body: readonly HTMLElement[],
  otherwise: HTMLElement | undefined,
  onRename: (label: string) => void,
): Entry {
  const id = `field${lastId++}`;
  const name = labelText(field);
  const { description, wrong, say } = notes(field, id);
  const top = element('fieldset', { 'aria-describedby': described(field, id) }, element('legend', {}, name, ...markOf(field)), ...description, ...body, wrong);
  let bad: Entry | undefined;
  return {
    top,
    text,
    complain() {
      const problem = problemOf(field, text());
      // What nobody has begun to fill in is left out.
      bad = problem ? entries().filter((entry) => !entry.complain())[0] : undefined;
      return say(bad ? '' : problem) && !bad;
    },
    focus: () => (bad ?? (wrong.textContent ? otherwise : undefined) ?? entries()[0] ?? otherwise)?.focus(),
    rename(label) {
      name.textContent = label;
      onRename(label);
    },
  };
}

// -- what all have

function problemOf(field: Field, text: string): string {
  const reading = read(field, text);
  return 'problem' in reading ? reading.problem : '';
}

function labelText(field: Field): HTMLElement {
  return element('span', {}, field.kind === 'json' ? `${field.label} (JSON)` : field.label);
}

function markOf(field: Field): HTMLElement[] {
  const isMissable = field.required && field.kind !== 'tick';
  return isMissable ? [element('span', { class: 'required', 'aria-hidden': 'true' }, ' *')] : [];
}

function described(field: Field, id: string): string {
  return [...(field.description ? [`${id}-description`] : []), `${id}-problem`].join(' ');
}

interface Notes {
  readonly description: readonly HTMLElement[];
  readonly wrong: HTMLElement;
  /** Says what is wrong; whether nothing is. */
  say(problem: string): boolean;
}

function notes(field: Field, id: string): Notes {
  const wrong = element('p', { id: `${id}-problem`, class: 'problem', 'aria-live': 'polite' });
  return {
    description: field.description ? [element('p', { id: `${id}-description`, class: 'quiet' }, field.description)] : [],
    wrong,
    say(problem) {
      if (wrong.textContent !== problem) {
        wrong.textContent = problem;
      }
      return problem === '';
    },
  };
}
