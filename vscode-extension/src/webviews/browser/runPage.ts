// The page of a conversation: the runs with their turns, tool calls and called agents, what agents ask, and a box to go on.
// Only what is new is drawn; the focus, what is folded, and the place of the reader stay.

import { duration, joined } from '../../runs/figures';
import { GrowingMarkdown } from '../../runPage/markdown';
import type { CallView, NodeView, PageState, QuestionView, RunView, TurnView } from '../../runPage/views';
import { element } from './elements';
import { drawing } from './frames';
import { follow, keep, kept, tell } from './host';

const SECOND = 1000;
const DEEPEST_HEADING = 6;
/** Milliseconds in which a question that has just appeared takes no answer: a click may have been meant for what stood there. */
const TOO_SOON = 700;
/** Pixels from the end within which a reader follows what is new. */
const NEAR = 80;

/** The extension asks for the run when the window is loaded anew. */
interface Kept {
  readonly runId: string;
  readonly draft: string;
}

interface Drawn {
  view: NodeView;
  readonly top: HTMLElement;
  readonly state: HTMLElement;
  readonly body: HTMLElement;
  /** That of its heading. */
  readonly level: number;
  draw(view: NodeView): void;
}

const drawn = new Map<string, Drawn>();
const asked = new Map<number, HTMLElement>();
const page = document.getElementById('page') as HTMLElement;
const heading = element('h1', {});
const spoken = element('p', { class: 'spoken', role: 'status' });
const conversation = element('div', { class: 'conversation' });
const questions = element('section', { class: 'questions', 'aria-label': 'Questions of agents' });
const reply = element('textarea', { rows: '2', 'aria-label': 'Reply' });
const send = button('Send', () => sendReply());
const stop = button('Stop', () => tell({ do: 'stop', runId: state?.runId }));
const again = button('Run Again', () => tell({ do: 'again', runId: state?.runId }));
const copy = button('Copy Answer', () => tell({ do: 'copy', runId: state?.runId }));
const timeline = button('Timeline', () => tell({ do: 'timeline', runId: state?.runId }));
const hint = element('p', { class: 'quiet', id: 'hint' }, 'Enter sends, Shift+Enter begins a new line.');
const askForTexts = drawing(drawTexts);
let state: PageState | undefined;
let isAtEnd = true;
/** The last reply, which stays in its box until its run has begun. */
let sent = '';

page.append(
  element('header', {}, heading, element('div', { role: 'toolbar', 'aria-label': 'Run', class: 'toolbar' }, stop, again, copy, timeline)),
  conversation,
  questions,
  element('form', { class: 'reply' }, reply, send, hint),
  spoken,
);
reply.value = kept<Kept>()?.draft ?? '';
reply.setAttribute('aria-describedby', 'hint');
reply.addEventListener('input', () => keepView());
reply.addEventListener('keydown', (event) => {
  if (event.key === 'Enter' && !event.shiftKey && !event.isComposing) {
    event.preventDefault();
    sendReply();
  }
});
page.addEventListener('scroll', () => (isAtEnd = page.scrollHeight - page.scrollTop - page.clientHeight < NEAR));
page.addEventListener('click', (event) => onLink(event));
page.addEventListener('keydown', (event) => event.key === 'Enter' && onLink(event));
setInterval(() => tick(), SECOND);
follow(show);

function show(next: PageState): void {
  if (state && state.runId !== next.runId && reply.value === sent) {
    reply.value = '';
  }
  state = next;
  keepView();
  if (next.isWhole) {
    drawn.clear();
    conversation.replaceChildren();
  }
  heading.textContent = next.title;
  next.nodes.forEach((view) => draw(view));
  next.nodes.forEach((view) => place(view));
  drawQuestions(next.questions);
  stop.hidden = !next.isGoing;
  again.hidden = next.isGoing;
  send.disabled = next.isGoing || next.isReplying;
  reply.placeholder = next.isGoing ? `${next.agent} is at work` : `Reply to ${next.agent}`;
  if (spoken.textContent !== next.spoken) {
    spoken.textContent = next.spoken;
  }
  followEnd();
}

function drawTexts(): void {
  grown.forEach((text) => text.draw());
  grown.clear();
  followEnd();
}

/** What is new comes into sight for a reader who was at the end of what goes on; a past run begins at its beginning. */
function followEnd(): void {
  if (isAtEnd && state?.isGoing) {
    page.scrollTop = page.scrollHeight;
  }
}

// -- runs, turns and tool calls

function draw(view: NodeView): void {
  let known = drawn.get(view.id);
  if (!known) {
    known = MAKERS[view.kind](view as never, (drawn.get(view.parent ?? '')?.level ?? 1) + 1);
    drawn.set(view.id, known);
    if (view.parent === undefined) {
      conversation.append(known.top);
    }
  }
  known.view = view;
  known.top.dataset['status'] = view.status;
  known.draw(view);
  drawState(known);
}

/** What is in a view, in order; what stands there already is not touched. */
function place({ id, kind, children }: NodeView): void {
  const body = drawn.get(id)?.body;
  if (!body || kind === 'call') {
    return;
  }
  const parts = children.flatMap((child) => drawn.get(child)?.top ?? []);
  parts.forEach((part, index) => {
    if (body.children[index] !== part) {
      body.insertBefore(part, body.children[index] ?? null);
    }
  });
  while (body.children.length > parts.length) {
    body.lastElementChild?.remove();
  }
}

const MAKERS = { run: makeRun, turn: makeTurn, call: makeCall } as const;

function makeRun(first: RunView, level: number): Drawn {
  const isRoot = first.parent === undefined;
  const name = headingOf(level, first.agent);
  const about = element('span', { class: 'about' });
  const state = element('span', { class: 'state quiet' });
  const body = element('div', { class: 'body' });
  const error = element('pre', { class: 'error' });
  const halt = button('Stop', () => tell({ do: 'stop', runId: first.runId }), `Stop ${first.agent}`);
  const take = button('Copy Answer', () => tell({ do: 'copy', runId: first.runId }), `Copy Answer: ${first.agent}`);
  const top = isRoot
    ? element('article', { class: 'run root', 'aria-label': first.agent }, element('div', { class: 'task' }, first.task), element('p', { class: 'root-state' }, name, ' · ', state), body, error)
    : folded('run', [name, about, state], element('div', { class: 'toolbar' }, halt, take), body, error);
  return {
    view: first,
    top,
    state,
    body,
    level,
    draw(view) {
      const run = view as RunView;
      about.textContent = run.heading;
      error.textContent = run.error;
      error.hidden = run.error === '';
      halt.hidden = run.status !== 'running';
      take.hidden = run.status === 'running' || run.error !== '';
      if (top instanceof HTMLDetailsElement && !top.dataset['seen']) {
        top.dataset['seen'] = 'yes';
        top.open = run.status === 'running';
      }
    },
  };
}

function makeTurn(first: TurnView, level: number): Drawn {
  const state = element('span', { class: 'state quiet' });
  const notes = element('ul', { class: 'notes quiet' });
  const thought = new Growth(level);
  const thinking = folded('thought', [element('span', { class: 'quiet' }, 'Thinking')], thought.top);
  const text = new Growth(level);
  const body = element('div', { class: 'calls' });
  const top = folded('turn', [headingOf(level, `Turn ${first.number}`), state], notes, thinking, text.top, body);
  top.open = true;
  return {
    view: first,
    top,
    state,
    body,
    level,
    draw(view) {
      const turn = view as TurnView;
      notes.replaceChildren(...turn.notes.map((note) => element('li', {}, note)));
      notes.hidden = turn.notes.length === 0;
      thought.grow(turn.thought);
      thinking.hidden = thought.isEmpty;
      text.grow(turn.text);
    },
  };
}

function makeCall(first: CallView, level: number): Drawn {
  const state = element('span', { class: 'state quiet' });
  const body = element('div', { class: 'body' });
  const subject = element('code', { class: 'subject' }, first.subject);
  const file = first.path ? [element('p', {}, element('a', { role: 'link', tabindex: '0', 'data-target': first.path }, first.path))] : [];
  const top = folded('call', [element('span', { class: 'name' }, first.name), subject, state], ...file, body);
  return {
    view: first,
    top,
    state,
    body,
    level,
    draw(view) {
      const call = view as CallView;
      const parts = [call.change === undefined ? labelled('Arguments', pre(call.arguments)) : labelled('Change', diff(call.change))];
      if (call.result !== undefined) {
        parts.push(labelled('Result', pre(call.result)));
      }
      body.replaceChildren(...parts);
    },
  };
}

/** Texts that have grown since they were drawn. */
const grown = new Set<Growth>();

/** A text of a model. */
class Growth {
  readonly top = element('div', { class: 'text' });
  private readonly open = element('div', {});
  private readonly settled = element('div', {});
  private readonly markdown: GrowingMarkdown;
  private now = '';
  /** What is drawn of it. */
  private drawn = 0;
  isEmpty = true;

  /** `level` is that of the heading above. */
  constructor(level: number) {
    this.markdown = new GrowingMarkdown(level);
    this.top.append(this.settled, this.open);
  }

  grow({ kept, more }: TurnView['text']): void {
    if (kept === this.now.length && more === '') {
      return;
    }
    this.now = this.now.slice(0, kept) + more;
    this.drawn = Math.min(this.drawn, kept);
    this.isEmpty = this.now === '';
    grown.add(this);
    askForTexts();
  }

  draw(): void {
    const { isNew, settled, open } = this.markdown.grow(this.drawn, this.now.slice(this.drawn));
    this.drawn = this.now.length;
    if (isNew) {
      this.settled.replaceChildren();
    }
    this.settled.append(fragment(settled));
    this.open.replaceChildren(fragment(open));
  }
}

/** HTML of the Markdown renderer, which lets no markup of the text through. */
function fragment(html: string): DocumentFragment {
  const template = element('template', {});
  template.innerHTML = html;
  for (const block of template.content.querySelectorAll<HTMLElement>('pre, table')) {
    block.tabIndex = 0; // It may have to be scrolled by the keyboard.
  }
  return template.content;
}

function drawState({ view, state }: Drawn): void {
  const lasts = duration(Math.max(0, (view.ended ?? Date.now()) - view.began));
  const words = view.status === 'completed' && view.kind !== 'run' ? '' : view.state;
  state.textContent = joined([words, lasts, view.kind === 'run' ? view.model : '', view.figures]);
}

/** What is under way lasts longer. */
function tick(): void {
  for (const each of drawn.values()) {
    if (each.view.status === 'running' && each.top.isConnected) {
      drawState(each);
    }
  }
}

// -- questions

function drawQuestions(all: readonly QuestionView[]): void {
  const open = new Set(all.map(({ key }) => key));
  for (const [key, card] of asked) {
    if (!open.has(key)) {
      card.remove();
      asked.delete(key);
    }
  }
  for (const question of all) {
    if (!asked.has(question.key)) {
      const card = cardOf(question);
      asked.set(question.key, card);
      questions.append(card);
    }
  }
  questions.hidden = all.length === 0;
}

function cardOf(question: QuestionView): HTMLElement {
  const { key, message, details } = question;
  const since = Date.now();
  const answer = (label: string, choice: string, text?: string) =>
    button(label, () => Date.now() - since > TOO_SOON && tell({ do: 'answer', key, choice, ...(text === undefined ? {} : { text }) }));
  const buttons = question.kind === 'approval' ? approvalButtons(question, answer) : question.choices.map((each) => answer(each, 'Answer', each));
  const card = element('div', { class: 'question', role: 'group', 'aria-label': message }, element('p', { class: 'message' }, message));
  card.append(details.startsWith('--- ') ? diff(details) : pre(details), element('div', { class: 'buttons' }, ...buttons));
  if (question.kind === 'inquiry') {
    card.append(answerBox(key));
  }
  return card;
}

function approvalButtons(question: QuestionView, answer: (label: string, choice: string) => HTMLElement): HTMLElement[] {
  return [
    ...(question.hasChange ? [answer('Show Change', 'Show')] : []),
    answer('Allow', 'Allow'),
    ...(question.forRun ? [answer(question.forRun, 'Allow the Same for This Run')] : []),
    ...(question.always ? [answer(question.always, 'Always')] : []),
    answer('Deny', 'Deny'),
    answer('Deny and Say Why…', 'Deny and Say Why…'),
  ];
}

function answerBox(key: number): HTMLElement {
  const words = element('input', { type: 'text', 'aria-label': 'Answer in your own words' });
  const form = element('form', { class: 'answer' }, words, element('button', { type: 'submit' }, 'Answer'));
  form.append(button('Don\'t Answer', () => tell({ do: 'answer', key, choice: 'Don\'t Answer' })));
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    if (words.value.trim()) {
      tell({ do: 'answer', key, choice: 'Answer', text: words.value });
    }
  });
  return form;
}

// -- what the reader does

function sendReply(): void {
  const text = reply.value.trim();
  if (text && state && !send.disabled) {
    send.disabled = true;
    sent = reply.value;
    tell({ do: 'reply', runId: state.runId, text });
  }
}

/** Links have no address of their own, which VS Code would open by itself: the extension does it. */
function onLink({ target }: Event): void {
  const link = target instanceof Element ? target.closest<HTMLElement>('[data-target]') : null;
  if (link) {
    tell({ do: 'link', target: link.dataset['target'] ?? '' });
  }
}

function keepView(): void {
  if (state) {
    keep({ runId: state.runId, draft: reply.value } satisfies Kept);
  }
}

// -- elements

function headingOf(level: number, text: string): HTMLElement {
  return element(`h${Math.min(DEEPEST_HEADING, level)}` as 'h2', { class: 'name' }, text);
}

function folded(kind: string, summary: readonly HTMLElement[], ...body: readonly HTMLElement[]): HTMLDetailsElement {
  const spaced = summary.flatMap((each, index) => [index === 0 ? '' : index === summary.length - 1 ? ' · ' : ' ', each]);
  return element('details', { class: kind }, element('summary', {}, ...spaced), ...body);
}

function button(label: string, act: () => void, spoken = label): HTMLButtonElement {
  const made = element('button', { type: 'button', 'aria-label': spoken }, label);
  made.addEventListener('click', act);
  return made;
}

function labelled(label: string, content: HTMLElement): HTMLElement {
  return element('div', {}, element('p', { class: 'quiet' }, label), content);
}

function pre(text: string): HTMLElement {
  return element('pre', { tabindex: '0' }, text);
}

const MARKS: Readonly<Record<string, string>> = { '+': 'added', '-': 'removed', '@': 'quiet' };

function diff(text: string): HTMLElement {
  const lines = text.split('\n').map((line) => element('span', { class: MARKS[line[0] ?? ''] ?? '' }, `${line}\n`));
  return element('pre', { tabindex: '0', class: 'diff' }, ...lines);
}
