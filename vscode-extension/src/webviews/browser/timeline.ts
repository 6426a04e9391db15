// The page of a timeline: a row for each bar, with its name on the left and the bar where it belongs in time.

import { duration } from '../../runs/figures';
import { ticksOf, type Bar, type Timeline } from '../../runs/timeline';
import { element } from './elements';
import { follow, keep, kept, tell } from './host';

const WIDEST = 64;
const TICKS = 8;
/** The part of the lane in which the figures of a bar that ends there have room behind it. */
const BEHIND = 0.65;

/** The extension asks for the run when the window is loaded anew. */
interface View {
  readonly zoom: number;
  readonly runId: string;
}

const LEGEND = [
  ['run', 'agent'],
  ['turn', 'turn: the model answers'],
  ['call', 'tool call'],
  ['idle', 'waits for side runs'],
  ['failed', 'failed, denied or stopped'],
  ['running', 'under way'],
] as const;

const page = document.getElementById('page') as HTMLElement;
const heading = element('h1', {});
const summary = element('p', { class: 'quiet', id: 'summary' });
const state = element('p', { class: 'spoken', role: 'status' });
const axis = element('div', { class: 'axis', 'aria-hidden': 'true' });
const rows = element('div', { class: 'rows', role: 'tree' });
const details = element('pre', { class: 'details', role: 'region', 'aria-label': 'Details of the chosen row', tabindex: '0' });
const chart = element('div', { class: 'chart' }, axis, rows);
let shown: Timeline | undefined;
let zoom = kept<View>()?.zoom ?? 1;
let current = '';

function build(): void {
  const zooms = [
    button('Zoom Out', '−', () => zoomTo(zoom / 2)),
    button('Whole Run', 'Whole Run', () => zoomTo(1)),
    button('Zoom In', '+', () => zoomTo(zoom * 2)),
  ];
  const keys = element('p', { class: 'quiet keys' }, 'Arrows move, Enter opens, + − 0 zoom.');
  page.append(
    element('header', {}, element('div', {}, heading, summary), element('div', { class: 'zooms' }, ...zooms)),
    element('div', { class: 'scroll' }, chart),
    details,
    element('footer', {}, legend(), keys),
    state,
  );
  page.addEventListener('keydown', onKey);
  rows.addEventListener('click', (event) => open(rowOf(event.target)));
  rows.addEventListener('focusin', (event) => choose(rowOf(event.target)));
}

function show(timeline: Timeline): void {
  shown = timeline;
  keepView();
  heading.textContent = timeline.title;
  summary.textContent = timeline.summary;
  if (state.textContent !== timeline.state) {
    state.textContent = timeline.state;
  }
  rows.setAttribute('aria-label', `Timeline of ${timeline.title}`);
  current ||= timeline.bars[0]?.id ?? '';
  timeline.bars.forEach((bar, index) => place(bar, index, timeline.lasts));
  drawAxis(timeline.lasts);
  drawDetails();
}

/** A row that already exists is changed, so that the focus stays where it is. */
function place(bar: Bar, index: number, lasts: number): void {
  let row = document.getElementById(bar.id);
  if (!row) {
    const name = element('span', { class: 'name' });
    row = element('div', { id: bar.id, role: 'treeitem' }, name, element('span', { class: 'lane' }, element('span', {}), element('span', { class: 'figures' })));
  }
  if (rows.children[index] !== row) {
    rows.insertBefore(row, rows.children[index] ?? null);
  }
  row.className = `row ${bar.kind} ${bar.status}`;
  row.setAttribute('aria-label', bar.spoken);
  row.setAttribute('aria-level', String(bar.level));
  row.tabIndex = bar.id === current ? 0 : -1;
  const [name, lane] = row.children as unknown as [HTMLElement, HTMLElement];
  name.textContent = bar.label;
  name.style.paddingInlineStart = `${bar.level - 1}em`;
  const [drawn, figures] = lane.children as unknown as [HTMLElement, HTMLElement];
  drawn.className = 'bar';
  drawn.style.insetInlineStart = `${(100 * bar.begins) / lasts}%`;
  drawn.style.width = `${(100 * bar.lasts) / lasts}%`;
  figures.dataset['figures'] = bar.figures; // Drawn by the style: the row's label says it in words.
  placeFigures(figures, bar.begins / lasts, (bar.begins + bar.lasts) / lasts);
}

/** Behind the bar, before it, or on it: where there is room. */
function placeFigures({ style }: HTMLElement, begins: number, ends: number): void {
  const isBefore = ends > BEHIND && begins > 1 - BEHIND;
  const start = ends <= BEHIND ? ends : begins;
  style.insetInlineStart = isBefore ? 'auto' : `${100 * start}%`;
  style.insetInlineEnd = isBefore ? `${100 * (1 - begins)}%` : 'auto';
}

function drawDetails(): void {
  const bar = shown?.bars.find(({ id }) => id === current);
  if (details.textContent !== (bar?.details ?? '')) {
    details.textContent = bar?.details ?? '';
  }
}

function drawAxis(lasts: number): void {
  const ticks = ticksOf(lasts, TICKS * zoom).map((moment) => {
    const tick = element('span', { class: 'tick' }, duration(moment));
    tick.style.insetInlineStart = `${(100 * moment) / lasts}%`;
    return tick;
  });
  axis.replaceChildren(...ticks);
}

function legend(): HTMLElement {
  const entries = LEGEND.map(([kind, words]) =>
    element('li', { class: `row ${kind}` }, element('span', { class: 'bar' }), words),
  );
  return element('ul', { class: 'legend', 'aria-label': 'Legend' }, ...entries);
}

function button(label: string, sign: string, act: () => void): HTMLElement {
  const made = element('button', { type: 'button', 'aria-label': label, title: label }, sign);
  made.addEventListener('click', act);
  return made;
}

function onKey(event: KeyboardEvent): void {
  const act = actionOf(event);
  if (act && !event.ctrlKey && !event.metaKey && !event.altKey) {
    event.preventDefault();
    act();
  }
}

function actionOf(event: KeyboardEvent): (() => void) | undefined {
  const row = rowOf(event.target);
  switch (event.key) {
    case '+':
    case '=':
      return () => zoomTo(zoom * 2);
    case '-':
      return () => zoomTo(zoom / 2);
    case '0':
      return () => zoomTo(1);
    case 'Enter':
    case ' ':
      return row && (() => open(row));
    default:
      return row && moveOf(event.key, row);
  }
}

function moveOf(key: string, row: HTMLElement): (() => void) | undefined {
  const go = (to: Element | null | undefined) => () => (to as HTMLElement | null | undefined)?.focus();
  switch (key) {
    case 'ArrowDown':
      return go(row.nextElementSibling);
    case 'ArrowUp':
      return go(row.previousElementSibling);
    case 'ArrowLeft':
      return go(parentOf(row));
    case 'ArrowRight':
      return levelOf(row.nextElementSibling) > levelOf(row) ? go(row.nextElementSibling) : undefined;
    case 'Home':
      return go(rows.firstElementChild);
    case 'End':
      return go(rows.lastElementChild);
    default:
      return undefined;
  }
}

function parentOf(row: HTMLElement): Element | null {
  let above = row.previousElementSibling;
  while (above && levelOf(above) >= levelOf(row)) {
    above = above.previousElementSibling;
  }
  return above;
}

function levelOf(row: Element | null): number {
  return Number(row?.getAttribute('aria-level') ?? 0);
}

function rowOf(target: EventTarget | null): HTMLElement | undefined {
  const row = target instanceof Element ? target.closest<HTMLElement>('[role=treeitem]') : null;
  return row ?? undefined;
}

/** Tab comes back to where the reader has been. */
function choose(row: HTMLElement | undefined): void {
  if (row) {
    document.getElementById(current)?.setAttribute('tabindex', '-1');
    row.tabIndex = 0;
    current = row.id;
    drawDetails();
    row.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }
}

function open(row: HTMLElement | undefined): void {
  if (row) {
    tell({ open: row.id });
  }
}

function zoomTo(wanted: number): void {
  zoom = Math.min(WIDEST, Math.max(1, wanted));
  keepView();
  chart.style.setProperty('--zoom', String(zoom));
  drawAxis(shown?.lasts ?? 0);
}

function keepView(): void {
  if (shown) {
    keep({ zoom, runId: shown.runId } satisfies View);
  }
}

build();
zoomTo(zoom);
follow(show);
