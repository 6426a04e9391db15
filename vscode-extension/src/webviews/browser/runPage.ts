// The page of a conversation: the runs with their turns, tool calls and called agents, what agents ask, and a box to go on.
// Only what is new is drawn; the focus, what is folded, and the place of the reader stay.

import { duration, joined, timeLeft } from '../../runs/figures';
import type { MessageMode } from '../../protocol';
import type { CallView, NodeView, PageState, RunView, TurnView } from '../../runPage/views';
import { element } from './elements';
import { drawing } from './frames';
import { follow, keep, kept, tell } from './host';
import { Edits, type Edit } from './runPage/edits';
import { RunEditsBar, TurnEditsBar } from './runPage/editsBar';
import { Folds } from './runPage/folds';
import { KEYS, modeOf, Queue, Sending } from './runPage/messages';
import { button, diff, folded, headingOf, labelled, open, pre } from './runPage/parts';
import { Questions, type Place } from './runPage/questions';
import { afterTexts, Growth } from './runPage/texts';

const SECOND = 1000;
const SEPARATOR = ' · ';
/** Between the words of a figure, which stay in one line. */
const NO_BREAK = '\u00a0';
/** Pixels from the end within which a reader follows what is new. */
const NEAR = 80;

/** The extension asks for the run when the window is loaded anew. */
interface Kept {
  readonly runId: string;
  readonly draft: string;
  readonly folds?: Readonly<Record<string, boolean>>;
  readonly edit?: Edit;
  /** Where the reader is, or at the end of what goes on. */
  readonly place?: Spot | 'end';
}

/** What is at the top of the sight, and how many pixels of it are above: what is further up may have another height next time. */
interface Spot {
  readonly at: string;
  readonly above: number;
}

interface Drawn {
  view: NodeView;
  readonly top: HTMLElement;
  readonly state: HTMLElement;
  readonly body: HTMLElement;
  /** Where a question about it stands. */
  readonly place?: Place;
  /** That of its heading. */
  readonly level: number;
  draw(view: NodeView): void;
  /** Draws the time that is left. */
  tick?(view: NodeView): void;
}

const drawn = new Map<string, Drawn>();
const page = document.getElementById('page') as HTMLElement;
const heading = element('h1', {});
const spoken = element('p', { class: 'spoken', role: 'status' });
const conversation = element('div', { class: 'conversation' });
/** For questions that are about no tool call. */
const others = element('section', { class: 'questions', 'aria-label': 'Questions of agents' });
/** Below a run that nobody has ended, such as one whose window was closed. */
const interruption = element('section', { class: 'interruption', 'aria-label': 'Interruption' }, 'Interrupted · ', button('Continue', () => tell({ do: 'continue', runId: state?.runId })));
const atTheEnd: Place = { put: (card) => others.append(card), clear: () => undefined, open: () => undefined };
const questions = new Questions(({ at }) => drawn.get(at ?? '')?.place ?? atTheEnd);
const waiting = element('span', {});
const waits = element('p', { class: 'waits' }, waiting, ' ', button('Show Question', () => questions.show()));
const reply = element('textarea', { rows: '2', 'aria-label': 'Reply' });
const send = button('Send', () => sendReply('next'));
const sending = new Sending(reply);
const queue = new Queue(() => state?.runId ?? '');
const stop = button('Stop', () => tell({ do: 'stop', runId: state?.runId }));
const go = button('Continue Run', () => tell({ do: 'continue', runId: state?.runId }));
const again = button('Run Again', () => tell({ do: 'again', runId: state?.runId }));
const copy = button('Copy Answer', () => tell({ do: 'copy', runId: state?.runId }));
const timeline = button('Timeline', () => tell({ do: 'timeline', runId: state?.runId }));
const latest = button('Jump to Latest', () => goToEnd());
latest.classList.add('latest');
const HINT = 'Enter sends, Shift+Enter begins a new line.';
const hint = element('p', { class: 'quiet', id: 'hint' }, HINT);
const folds = new Folds(kept<Kept>()?.folds ?? {}, () => keepView());
const edits = new Edits(kept<Kept>()?.edit, () => keepView());
let state: PageState | undefined;
/** The time by which all that is under way says how long it lasts, so that a part never lasts longer than the whole. */
let clock = Date.now();
let isAtEnd = true;
/** Whether the page has seen its newest run at work, and the reader has touched nothing since its end. */
let isLive = false;
/** Where the reader was before the page was hidden, until the page is as long again. */
let former = kept<Kept>()?.place;
/** The boxes of side runs. */
const sideBoxes = new Set<Sending>();
/** The last reply, which stays in its box until its run has begun. */
let sent = '';

const header = element('header', {}, heading, element('div', { role: 'toolbar', 'aria-label': 'Run', class: 'toolbar' }, stop, go, again, copy, timeline));

page.append(
  header,
  conversation,
  interruption,
  others,
  element('form', { class: 'reply' }, latest, waits, queue.top, reply, send, hint),
  spoken,
);
reply.value = kept<Kept>()?.draft ?? '';
reply.setAttribute('aria-describedby', 'hint');
reply.addEventListener('input', () => keepView());
reply.addEventListener('keydown', (event) => {
  const mode = modeOf(event);
  if (mode) {
    event.preventDefault();
    sendReply(mode);
  }
});
page.addEventListener('scroll', () => {
  noteEnd();
  keepView();
});
['wheel', 'pointerdown', 'keydown'].forEach((name) => page.addEventListener(name, () => onTouch(), { passive: true }));
page.addEventListener('click', (event) => onLink(event));
page.addEventListener('keydown', (event) => event.key === 'Enter' && onLink(event));
setInterval(() => tick(), SECOND);
const arrange = drawing(() => {
  followEnd();
  goBack();
  noteEnd();
  keepView();
});
afterTexts(() => {
  followEnd();
  goBack();
});
follow(show);

function show(next: PageState): void {
  if (state && state.runId !== next.runId && reply.value === sent) {
    reply.value = '';
  }
  if (state && !next.isWhole && state.runId !== next.runId) {
    isAtEnd = isLive = true; // A message was sent: it comes into sight, and so does its answer.
  }
  isLive ||= next.isGoing;
  state = next;
  if (next.isWhole) {
    drawn.clear();
    sideBoxes.clear();
    conversation.replaceChildren();
  }
  heading.textContent = next.title;
  if (next.nodes.some(({ ended }) => ended !== undefined)) {
    tick();
  }
  next.nodes.forEach((view) => draw(view));
  next.nodes.forEach((view) => place(view));
  edits.draw(next.edited, next.isReplying);
  questions.draw(next.questions);
  others.hidden = others.children.length === 0;
  waits.hidden = next.questions.length === 0;
  waiting.textContent = next.questions.length === 1 ? `${next.questions[0]?.agent} asks you.` : `Agents ask you ${next.questions.length} things.`;
  stop.hidden = !next.isGoing;
  go.hidden = !next.canContinue;
  interruption.hidden = !next.isInterrupted;
  [go, ...interruption.getElementsByTagName('button')].forEach((each) => (each.disabled = next.isReplying));
  again.hidden = next.isGoing;
  send.disabled = next.isReplying;
  [sending, ...sideBoxes].forEach((each) => each.draw(next.accepted));
  const newest = drawn.get(next.runId)?.view;
  queue.draw(newest?.kind === 'run' ? newest.queue : []);
  reply.placeholder = next.isGoing ? `Message to ${next.agent}, which is at work` : `Reply to ${next.agent}`;
  reply.setAttribute('aria-label', next.isGoing ? 'Message' : 'Reply');
  hint.textContent = next.isGoing ? KEYS : HINT;
  if (spoken.textContent !== next.spoken) {
    spoken.textContent = next.spoken;
  }
  arrange();
}

/** Back to where the reader was, as soon as there is so much on the page. */
function goBack(): void {
  if (former === 'end') {
    page.scrollTop = page.scrollHeight;
    former = undefined;
  } else if (former) {
    const top = drawn.get(former.at)?.top;
    if (top) {
      const isInside = former.above > (top.querySelector('summary')?.offsetHeight ?? 0);
      open((isInside ? top : top.parentElement)?.closest('details'));
      page.scrollTop += former.above - aboveSight(top);
      former = Math.abs(former.above - aboveSight(top)) <= 1 ? undefined : former;
    }
  }
}

/** Where the reader is. */
function spot(): Spot | undefined {
  const { left, width } = page.getBoundingClientRect();
  const first = document.elementFromPoint(left + width / 2, topOfSight())?.closest<HTMLElement>('[data-id]');
  return first ? { at: first.dataset['id'] ?? '', above: aboveSight(first) } : undefined;
}

function aboveSight(part: HTMLElement): number {
  return topOfSight() - part.getBoundingClientRect().top;
}

/** Below the header, which stays in sight. */
function topOfSight(): number {
  return header.getBoundingClientRect().bottom + 1;
}

/** What is new comes into sight for a reader who was at the end of what goes on, also what comes with its end; a past run begins at its beginning. */
function followEnd(): void {
  if (isAtEnd && isLive) {
    page.scrollTop = page.scrollHeight;
  }
}

function goToEnd(): void {
  page.scrollTop = page.scrollHeight;
  noteEnd();
}

function noteEnd(): void {
  isAtEnd = page.scrollHeight - page.scrollTop - page.clientHeight < NEAR;
  latest.hidden = isAtEnd;
}

function onTouch(): void {
  former = undefined;
  isLive = state?.isGoing ?? false;
}

// -- runs, turns and tool calls

function draw(view: NodeView): void {
  let known = drawn.get(view.id);
  if (!known) {
    known = MAKERS[view.kind](view as never, (drawn.get(view.parent ?? '')?.level ?? 1) + 1);
    known.top.dataset['id'] = view.id;
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
  const outcome = element('span', { class: 'outcome' });
  const state = element('span', { class: 'state quiet' });
  const body = element('div', { class: 'body' });
  const error = element('pre', { class: 'error' });
  const help = element('div', { class: 'toolbar', role: 'group', 'aria-label': `Remedies: ${first.agent}` });
  const changes = element('p', {});
  const halt = button('Stop', () => tell({ do: 'stop', runId: first.runId }), `Stop ${first.agent}`);
  const take = button('Copy Answer', () => tell({ do: 'copy', runId: first.runId }), `Copy Answer: ${first.agent}`);
  const rerun = button('Run Again', () => tell({ do: 'again', runId: first.runId }), `Run Again: ${first.agent} by itself`);
  const task = element('div', { class: 'task' }, first.task);
  const change = element('div', { class: 'toolbar task-tools' }, ...(isRoot && first.task && !first.isShared ? [edits.buttonFor(first.runId, task)] : []));
  const badge = element('span', { class: 'badge' }, 'side run');
  badge.hidden = !first.isSide;
  const bar = new RunEditsBar({ runId: first.runId, whose: first.agent }, folds);
  const messages = isRoot || !first.isSide ? undefined : sideBox(first);
  const top = isRoot
    ? element('article', { class: first.isShared ? 'run root shared' : 'run root', 'aria-label': first.agent }, task, change, element('p', { class: 'root-state' }, name, ' · ', state), body, changes, bar.top, error, help)
    : folded('run', [name, badge, about, state], element('div', { class: 'toolbar' }, halt, take, rerun), body, ...(messages ? [messages.top] : []), changes, bar.top, error);
  if (!isRoot) {
    top.querySelector('summary')?.append(outcome);
    top.addEventListener('toggle', () => (outcome.hidden = (top as HTMLDetailsElement).open || outcome.textContent === ''));
  }
  return {
    view: first,
    top,
    state,
    body,
    level,
    draw(view) {
      const run = view as RunView;
      about.textContent = run.heading;
      outcome.textContent = run.outcome;
      error.textContent = run.error;
      error.hidden = run.error === '';
      drawHelp(help, run);
      changes.textContent = run.changes;
      changes.hidden = run.changes === '';
      changes.className = run.unapplied ? 'error' : 'quiet';
      bar.draw(run.edits);
      messages?.draw(run);
      halt.hidden = run.status !== 'running';
      take.hidden = run.status === 'running' || run.error !== '';
      rerun.hidden = run.status === 'running';
      change.hidden = run.status === 'running' || run.task === '';
      if (top instanceof HTMLDetailsElement) {
        fold(top, run);
        outcome.hidden = top.open || run.outcome === '';
      }
    },
  };
}

/** The buttons that help a failed run. */
function drawHelp(help: HTMLElement, { runId, remedies }: RunView): void {
  const drawn = JSON.stringify(remedies);
  help.hidden = !remedies;
  if (help.dataset['drawn'] === drawn || !remedies) {
    return;
  }
  help.dataset['drawn'] = drawn;
  const { key, retry, canSwitch } = remedies;
  const name = key && ('variable' in key ? key.variable : `of ${key.provider}`);
  const buttons = [
    ...(name ? [button(`Set Key ${name}…`, () => tell({ do: 'setKey', runId }))] : []),
    button('Retry', () => tell({ do: retry, runId })),
    ...(canSwitch ? [button('Switch Model…', () => tell({ do: 'switchModel', runId }))] : []),
  ];
  buttons[0]?.classList.add('primary');
  help.replaceChildren(...buttons);
}

/** A called agent is open while it works, and folded to a line when it has ended, unless the reader is in it or has opened it. */
function fold(top: HTMLDetailsElement, { id, status }: RunView): void {
  const former = top.dataset['seen'];
  top.dataset['seen'] = status;
  if (former === undefined) {
    folds.follow(top, id, status === 'running');
  } else if (former !== status && !top.contains(document.activeElement)) {
    folds.draw(top, id, status === 'running');
  }
}

/** What a request has given: open, unless it is answers, which can be long. */
function givenPart({ heading, text, isMessage }: TurnView['given'][number]): HTMLElement {
  const part = folded('given', [element('span', { class: 'quiet' }, `Given: ${heading}`)], pre(text));
  part.open = isMessage;
  return part;
}

/** The box of a side run, which takes messages of its own. */
function sideBox({ runId, agent }: RunView) {
  const box = element('textarea', { rows: '1', 'aria-label': `Message to ${agent}`, placeholder: `Message to ${agent}`, title: KEYS });
  const waiting = new Queue(() => runId);
  const own = new Sending(box);
  box.addEventListener('keydown', (event) => {
    const mode = modeOf(event);
    if (mode) {
      event.preventDefault();
      own.send(runId, mode);
    }
  });
  sideBoxes.add(own);
  const top = element('form', { class: 'side-box' }, waiting.top, box, button('Send', () => own.send(runId, 'next'), `Send to ${agent}`));
  return {
    top,
    draw(run: RunView) {
      waiting.draw(run.queue);
      top.hidden = run.status !== 'running';
    },
  };
}

function makeTurn(first: TurnView, level: number): Drawn {
  const state = element('span', { class: 'state quiet' });
  const notes = element('ul', { class: 'notes quiet' });
  const waits = element('p', { class: 'quiet', role: 'timer' });
  const given = element('div', {});
  const thought = new Growth(level);
  const thinking = folded('thought', [element('span', { class: 'quiet' }, 'Thinking')], thought.top);
  const text = new Growth(level);
  const body = element('div', { class: 'calls' });
  const take = button('Copy', () => tell({ do: 'copy', runId: first.parent, turn: first.number }), `Copy turn ${first.number}`);
  const retry = button('Retry from Here', () => tell({ do: 'retry', runId: first.parent, turn: first.number }), `Retry from Here: turn ${first.number}`);
  const isOfRoot = drawn.get(first.parent ?? '')?.view.parent === undefined;
  const tools = element('div', { class: 'toolbar' }, take, ...(isOfRoot ? [retry] : []));
  const about = element('span', { class: 'about' });
  const bar = new TurnEditsBar({ runId: first.parent ?? '', turn: first.number, whose: `turn ${first.number}` });
  const top = folded('turn', [headingOf(level, `Turn ${first.number}`), about, state], tools, given, notes, waits, thinking, text.top, body, bar.top);
  let heading = '';
  const name = () => (about.textContent = top.open ? '' : heading); // While it is open, its text stands below.
  top.addEventListener('toggle', name);
  folds.follow(top, first.id, true);
  folds.follow(thinking, `${first.id}/thought`, false);
  return {
    view: first,
    top,
    state,
    body,
    level,
    tick: (view) => countDown(waits, view as TurnView),
    draw(view) {
      const turn = view as TurnView;
      heading = turn.heading;
      name();
      notes.replaceChildren(...turn.notes.map((note) => element('li', {}, note)));
      notes.hidden = turn.notes.length === 0;
      countDown(waits, turn);
      if (given.children.length !== turn.given.length) {
        given.replaceChildren(...turn.given.map(givenPart));
      }
      thought.grow(turn.thought);
      thinking.hidden = thought.isEmpty;
      text.grow(turn.text);
      bar.draw(turn.edits);
      take.hidden = text.isEmpty || turn.status === 'running';
      retry.hidden = turn.status === 'running';
    },
  };
}

function makeCall(first: CallView, level: number): Drawn {
  const state = element('span', { class: 'state quiet' });
  const body = element('div', { class: 'body' });
  const subject = element('code', { class: 'subject' }, first.subject);
  const file = first.path ? [element('p', {}, element('a', { role: 'link', tabindex: '0', 'data-target': first.path }, first.path))] : [];
  const asks = element('div', {});
  const top = folded('call', [element('span', { class: 'name' }, first.name), subject, state], ...file, asks, body);
  folds.follow(top, first.id, false);
  const place: Place = {
    put(card) {
      asks.append(card);
      body.hidden = true; // The question says it.
      open(top);
    },
    clear(hadFocus) {
      body.hidden = asks.children.length > 0;
      folds.draw(top, first.id, body.hidden);
      if (hadFocus) {
        top.querySelector('summary')?.focus();
      }
    },
    open: () => open(top),
  };
  return {
    view: first,
    top,
    state,
    body,
    place,
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

function drawState({ view, state }: Drawn): void {
  const lasts = duration(Math.max(0, (view.ended ?? clock) - view.began));
  const words = view.status === 'completed' && view.kind !== 'run' ? '' : view.state;
  const isShared = view.kind === 'run' && view.isShared;
  const all = joined([words, isShared ? '' : lasts, view.kind === 'run' ? view.model : '', view.figures]);
  state.textContent = all.split(SEPARATOR).map((part) => part.replaceAll(' ', NO_BREAK)).join(SEPARATOR);
}

/** What is under way lasts longer. */
function tick(): void {
  clock = Date.now();
  questions.tick();
  for (const each of drawn.values()) {
    if (each.view.status === 'running' && each.top.isConnected) {
      drawState(each);
      each.tick?.(each.view);
    }
  }
}

/** How long the request of a turn still waits. */
function countDown(line: HTMLElement, { wait }: TurnView): void {
  const left = (wait?.until ?? 0) - Date.now();
  line.hidden = left <= 0;
  line.textContent = wait && left > 0 ? `${wait.what}: ${timeLeft(left)}` : '';
}

// -- what the reader does

function sendReply(mode: MessageMode): void {
  if (state?.isGoing) {
    sending.send(state.runId, mode);
    return;
  }
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
    const place = former ?? (isAtEnd && state.isGoing ? 'end' : spot());
    const { current: edit } = edits;
    keep({ runId: state.runId, draft: reply.value, folds: folds.all(), ...(edit && { edit }), ...(place && { place }) } satisfies Kept);
  }
}
