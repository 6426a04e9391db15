// The form that an agent's input is written in. Fields are checked when they are left, and all of them before a run.

import type { Field } from '../../forms/fields';
import type { FormMessage, FormState, FormView } from '../../forms/protocol';
import { inputOf, read, type Texts } from '../../forms/values';
import { element } from './elements';
import { follow, keep, kept, tell } from './host';

type Control = HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement;

const MOST_LINES = 16;

const page = document.getElementById('page') as HTMLElement;
const problem = element('p', { role: 'alert', class: 'problem whole' });
let file = '';
let controls = new Map<Field, Control>();

follow((state: FormState) => {
  if (controls.size === 0) {
    file = state.file;
    draw(state, kept<FormView>()?.texts ?? state.texts);
    keepView();
  }
  problem.textContent = state.problem;
});

function draw({ agent, explanation, fields }: FormState, texts: Texts): void {
  controls = new Map(fields.map((field, number) => [field, control(field, `field${number}`, texts[field.name] ?? field.initial)]));
  const form = element('form', { 'aria-labelledby': 'title', novalidate: '' }, ...[...controls].map(([field, made]) => row(field, made)), problem, buttons());
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    send('run');
  });
  page.replaceChildren(element('h1', { id: 'title' }, `Run ${agent}`), element('p', { class: 'quiet' }, explanation), form);
  page.addEventListener('keydown', (event) => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      send('run');
    }
  });
  [...controls.values()][0]?.focus();
}

function row(field: Field, made: Control): HTMLElement {
  const isMissable = field.required && field.kind !== 'tick';
  const mark = isMissable ? [element('span', { class: 'required', 'aria-hidden': 'true' }, ' *')] : [];
  const label = element('label', { for: made.id }, field.kind === 'json' ? `${field.label} (JSON)` : field.label, ...mark);
  const description = element('p', { id: `${made.id}-description`, class: 'quiet' }, field.description);
  const wrong = element('p', { id: `${made.id}-problem`, class: 'problem', 'aria-live': 'polite' });
  made.addEventListener('blur', () => complain(field, made));
  made.addEventListener('input', () => {
    keepView();
    if (wrong.textContent) {
      complain(field, made);
    }
  });
  const parts = field.kind === 'tick' ? [element('div', { class: 'ticked' }, made, label)] : [label, made];
  return element('div', { class: 'row' }, ...parts, ...(field.description ? [description] : []), wrong);
}

function control(field: Field, id: string, text: string): Control {
  const told = [...(field.description ? [`${id}-description`] : []), `${id}-problem`].join(' ');
  const common = { id, name: field.name, 'aria-describedby': told, ...(field.required ? { 'aria-required': 'true' } : {}) };
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

function buttons(): HTMLElement {
  const preview = element('button', { type: 'button' }, 'Preview');
  const cancel = element('button', { type: 'button' }, 'Cancel');
  preview.addEventListener('click', () => send('preview'));
  cancel.addEventListener('click', () => tell({ wanted: 'close', texts: textsNow() } satisfies FormMessage));
  const hint = element('span', { class: 'quiet' }, 'Ctrl+Enter runs from any field.');
  return element('div', { class: 'buttons' }, element('button', { type: 'submit', class: 'primary' }, 'Run'), preview, cancel, hint);
}

function keepView(): void {
  keep({ file, texts: textsNow() } satisfies FormView);
}

function textsNow(): Texts {
  const text = (made: Control) => (made instanceof HTMLInputElement && made.type === 'checkbox' ? String(made.checked) : made.value);
  return Object.fromEntries([...controls].map(([field, made]) => [field.name, text(made)]));
}

/** Tells the extension, unless a field is wrong: then the reader is taken to the first such one. */
function send(wanted: 'run' | 'preview'): void {
  const texts = textsNow();
  const wrong = [...controls].filter(([field, made]) => !complain(field, made));
  problem.textContent = '';
  if ('input' in inputOf([...controls.keys()], texts)) {
    tell({ wanted, texts } satisfies FormMessage);
  } else {
    wrong[0]?.[1].focus();
  }
}

/** Says what is wrong with a field; whether nothing is. */
function complain(field: Field, made: Control): boolean {
  const reading = read(field, textsNow()[field.name] ?? '');
  const said = 'problem' in reading ? reading.problem : '';
  const place = document.getElementById(`${made.id}-problem`);
  if (place && place.textContent !== said) {
    place.textContent = said;
  }
  made.setAttribute('aria-invalid', String(said !== ''));
  return said === '';
}
