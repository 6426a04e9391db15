// The form that an agent's input is written in. Fields are checked when they are left, and all of them before a run.

import type { Field } from '../../forms/fields';
import type { FormMessage, FormState, FormView } from '../../forms/protocol';
import { inputOf, type Texts } from '../../forms/values';
import { element } from './elements';
import { follow, keep, kept, tell } from './host';
import { entryOf, type Entry } from './inputForm/entries';

const page = document.getElementById('page') as HTMLElement;
const problem = element('p', { role: 'alert', class: 'problem whole' });
/** Milliseconds after a change in which others may follow before the extension is told. */
const PAUSE = 300;
let file = '';
let entries = new Map<Field, Entry>();
let added = kept<FormView>()?.added;
let telling: ReturnType<typeof setTimeout> | undefined;

follow((state: FormState) => {
  if (entries.size === 0) {
    file = state.file;
    draw(state, kept<FormView>()?.texts ?? state.texts);
    keepView();
  }
  if (state.addition && state.addition.key > (added ?? 0)) {
    added = state.addition.key;
    [...entries.values()][0]?.add?.(state.addition.text);
  }
  problem.textContent = state.problem;
});

function draw({ agent, explanation, fields }: FormState, texts: Texts): void {
  entries = new Map(fields.map((field) => [field, entryOf(field, texts[field.name] ?? field.initial, onChange)]));
  const form = element('form', { 'aria-labelledby': 'title', novalidate: '' }, ...[...entries.values()].map(({ top }) => top), problem, buttons());
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
  [...entries.values()][0]?.focus();
}

function buttons(): HTMLElement {
  const preview = element('button', { type: 'button' }, 'Preview');
  const cancel = element('button', { type: 'button' }, 'Cancel');
  preview.addEventListener('click', () => send('preview'));
  cancel.addEventListener('click', () => {
    clearTimeout(telling);
    tell({ wanted: 'close', texts: textsNow() } satisfies FormMessage);
  });
  const hint = element('span', { class: 'quiet' }, 'Ctrl+Enter runs from any field.');
  return element('div', { class: 'buttons' }, element('button', { type: 'submit', class: 'primary' }, 'Run'), preview, cancel, hint);
}

function onChange(): void {
  keepView();
  clearTimeout(telling);
  telling = setTimeout(() => tell({ wanted: 'keep', texts: textsNow() } satisfies FormMessage), PAUSE);
}

function keepView(): void {
  keep({ file, texts: textsNow(), ...(added !== undefined && { added }) } satisfies FormView);
}

function textsNow(): Texts {
  return Object.fromEntries([...entries].map(([field, entry]) => [field.name, entry.text()]));
}

/** Tells the extension, unless a field is wrong: then the reader is taken to the first such one. */
function send(wanted: 'run' | 'preview'): void {
  clearTimeout(telling);
  const texts = textsNow();
  const wrong = [...entries.values()].filter((entry) => !entry.complain());
  problem.textContent = '';
  if ('input' in inputOf([...entries.keys()], texts)) {
    tell({ wanted, texts } satisfies FormMessage);
  } else {
    wrong[0]?.focus();
  }
}
