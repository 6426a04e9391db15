// The graph of agents as a drawing that is used like a tree: one agent has the focus, arrow keys follow calls, Enter opens.

import { BOX_HEIGHT, layout, shownName, type Layout, type Placed, type PlacedEdge, type Point } from '../../graph/layout';
import type { AgentNode, GraphMessage, GraphState } from '../../graph/state';
import { around, found, inWords, next, part } from '../../graph/walking';
import { drawing, element } from './elements';
import { follow, keep, kept, tell } from './host';

/** What the reader has chosen. `steps` is how far around an agent, 0 for all agents. */
interface View {
  readonly steps: number | undefined;
  readonly center: string | undefined;
  /** Undefined: as large as there is room. */
  readonly zoom: number | undefined;
}

/** With more agents than this, the graph begins with those around one. */
const FEW = 150;
/** How far down a line is drawn that leads back; it must not leave the margin. */
const DIP = 26;
/** Of a graph that is drawn as large as there is room. */
const [SMALLEST, LARGEST] = [0.5, 1.5];
const ZOOMS = { '+': 1.25, '=': 1.25, '-': 0.8 } as const;
const MARKS: Readonly<Record<AgentNode['state'], string>> = { error: '✖', warning: '▲', missing: '?', fine: '' };

const DOING: Readonly<Record<NonNullable<AgentNode['live']>['state'], string>> = { waiting: '❓', running: '▶', failed: '✖', completed: '✔' };

let all: GraphState = { nodes: [], edges: [], active: undefined, complete: false };
let view: View = kept<View>() ?? { steps: undefined, center: undefined, zoom: undefined };
let shown: Layout = layout(all);
let focused: string | undefined;

const page = document.getElementById('page') as HTMLElement;
const names = element('datalist', { id: 'names' });
const search = element('input', { type: 'search', placeholder: 'Find an agent', 'aria-label': 'Find an agent', list: 'names' });
const steps = element(
  'select',
  { 'aria-label': 'Which agents are shown' },
  element('option', { value: '0' }, 'All agents'),
  ...[1, 2, 3, 5].map((count) => element('option', { value: String(count) }, `${count} step${count === 1 ? '' : 's'} around one`)),
);
const count = element('span', { class: 'quiet', role: 'status' });
const svg = drawing('svg', { role: 'group', 'aria-label': 'Agents and their calls. Arrow keys follow calls, Enter opens the file.' });
const canvas = element('div', { id: 'canvas' }, svg);
const list = element('ul', {});
const legend = '✖ errors · ▲ warnings · ? red: no file · ↻ in a cycle · pale: too deep to be called · dashed line: by Task · prices in and out for a million tokens';

page.append(
  element('h1', { class: 'spoken' }, 'Graph of agents'),
  element('div', { role: 'toolbar', 'aria-label': 'Graph', class: 'toolbar' }, search, names, steps, ...zoomButtons(), count),
  canvas,
  element('p', { class: 'quiet legend' }, legend),
  element('details', {}, element('summary', {}, 'As a list'), list),
);
search.addEventListener('change', () => findAgent());
steps.addEventListener('change', () => choose({ steps: Number(steps.value), center: view.center ?? focused }));
canvas.addEventListener('keydown', (event) => onKey(event));
svg.addEventListener('focusin', ({ target }) => (focused = (target as SVGElement).dataset['agent'] ?? focused));
canvas.addEventListener('wheel', (event) => onWheel(event), { passive: false });
canvas.addEventListener('pointerdown', (event) => onDrag(event));

new ResizeObserver(() => view.zoom === undefined && all.nodes.length > 0 && draw()).observe(canvas);

follow((state: GraphState) => {
  const hasMoved = state.active !== undefined && state.active !== all.active;
  all = state;
  names.replaceChildren(...all.nodes.map(({ name }) => element('option', { value: name })));
  if (hasMoved) {
    view = { ...view, center: state.active };
    focused = state.active;
  }
  draw();
  if (hasMoved) {
    bringIntoView(focused);
  }
});

// -- what the reader does

function choose(changes: Partial<View>): void {
  view = { ...view, ...changes };
  keep(view);
  draw();
  bringIntoView(focused);
}

function findAgent(): void {
  const match = found(all.nodes, search.value);
  if (match) {
    focused = match.id;
    choose({ center: match.id });
    boxOf(match.id)?.focus();
  } else if (search.value) {
    count.textContent = `No agent is called ${search.value}.`;
  }
}

function onKey(event: KeyboardEvent): void {
  const from = shown.nodes.find(({ id }) => id === focused);
  const zoom = ZOOMS[event.key as keyof typeof ZOOMS];
  const to = from && next(from, event.key, shown.nodes, all.edges);
  if (event.key === 'Enter' && from) {
    open(from.node);
  } else if (event.key === '0') {
    fit();
  } else if (zoom) {
    choose({ zoom: zoomNow() * zoom });
  } else if (to) {
    focusOn(to.id);
  } else if (!event.key.startsWith('Arrow')) {
    return;
  }
  event.preventDefault();
}

function onWheel(event: WheelEvent): void {
  if (event.ctrlKey || event.metaKey) {
    event.preventDefault();
    choose({ zoom: zoomNow() * (event.deltaY < 0 ? 1.1 : 1 / 1.1) });
  }
}

/** What lies between the agents is drawn along. */
function onDrag(event: PointerEvent): void {
  if (event.button !== 0 || (event.target as Element).closest('.agent')) {
    return;
  }
  canvas.setPointerCapture(event.pointerId);
  const move = ({ movementX, movementY }: PointerEvent) => canvas.scrollBy(-movementX, -movementY);
  canvas.addEventListener('pointermove', move);
  canvas.addEventListener('pointerup', () => canvas.removeEventListener('pointermove', move), { once: true });
}

function open({ id, state }: AgentNode): void {
  if (state !== 'missing') {
    tell({ open: id } satisfies GraphMessage);
  }
}

function focusOn(id: string): void {
  boxOf(focused)?.setAttribute('tabindex', '-1');
  focused = id;
  const box = boxOf(id);
  box?.setAttribute('tabindex', '0');
  box?.focus();
  bringIntoView(id);
}

function fit(): void {
  choose({ zoom: Math.min(LARGEST, room()) });
}

/** The zoom at which all of the graph is in sight. */
function room(): number {
  return Math.min(canvas.clientWidth / shown.width, canvas.clientHeight / shown.height);
}

function zoomNow(): number {
  return Math.min(Math.max(view.zoom ?? Math.min(Math.max(room(), SMALLEST), LARGEST), 0.1), 4);
}

// -- drawing

function draw(): void {
  const hadFocus = svg.contains(document.activeElement);
  const state = part(all, visible());
  shown = layout(state);
  focused = shown.nodes.some(({ id }) => id === focused) ? focused : (shown.nodes.find(({ id }) => id === all.active) ?? shown.nodes[0])?.id;
  const zoom = zoomNow();
  svg.setAttribute('viewBox', `0 0 ${shown.width} ${shown.height}`);
  svg.setAttribute('width', String(shown.width * zoom));
  svg.setAttribute('height', String(shown.height * zoom));
  svg.replaceChildren(arrowHeads(), ...shown.edges.map(line), ...shown.nodes.map(box));
  steps.value = String(stepsNow());
  count.textContent = countText(state.nodes.length);
  list.replaceChildren(...state.nodes.map(listed));
  if (hadFocus) {
    boxOf(focused)?.focus();
  }
}

function stepsNow(): number {
  return view.steps ?? (all.nodes.length > FEW ? 2 : 0);
}

function visible(): Set<string> {
  const known = (id: string | undefined) => all.nodes.find((node) => node.id === id)?.id;
  const center = known(view.center) ?? known(all.active) ?? all.nodes[0]?.id;
  return stepsNow() > 0 && center !== undefined ? around(all.edges, center, stepsNow()) : new Set(all.nodes.map(({ id }) => id));
}

function countText(visible: number): string {
  const reading = all.complete ? '' : ', still reading';
  return visible === all.nodes.length ? `${visible} agents${reading}` : `${visible} of ${all.nodes.length} agents${reading}`;
}

function box({ id, node, x, y, width }: Placed): SVGGElement {
  const marks = [node.inCycle ? '↻' : '', MARKS[node.state]].filter(Boolean).join(' ');
  const classes = ['agent', node.state, ...(node.inCycle ? ['cycle'] : []), ...(node.reachable ? [] : ['pale']), ...(id === all.active ? ['active'] : []), ...(node.live ? ['live', node.live.state] : [])];
  const made = drawing(
    'g',
    {
      class: classes.join(' '),
      role: 'button',
      tabindex: id === focused ? '0' : '-1',
      'aria-label': inWords(node, all),
      'data-agent': id,
      transform: `translate(${x - width / 2} ${y - BOX_HEIGHT / 2})`,
      ...(id === all.active ? { 'aria-current': 'true' } : {}),
      ...(node.state === 'missing' ? { 'aria-disabled': 'true' } : {}),
    },
    drawing('title', {}, inWords(node, all)),
    drawing('rect', { width: String(width), height: String(BOX_HEIGHT), rx: '4' }),
    drawing('text', { x: '10', y: '15' }, shownName(node.name)),
    drawing('text', { x: '10', y: '32', class: 'about' }, ` ${node.live ? `${DOING[node.live.state]} ${node.live.words}` : shownName(node.about)}`),
    drawing('text', { x: String(width - 8), y: '15', class: 'marks' }, ` ${marks}`),
  );
  made.addEventListener('click', () => {
    focusOn(id);
    open(node);
  });
  return made;
}

function line({ edge, points }: PlacedEdge): SVGPathElement {
  const classes = ['call', ...(edge.byTask ? ['task'] : []), ...(edge.inCycle ? ['cycle'] : []), ...(edge.isTaken ? ['taken'] : [])];
  return drawing('path', { d: curve(points), class: classes.join(' '), 'marker-end': `url(#${edge.isTaken ? 'taken' : edge.inCycle ? 'cycle' : 'call'}-head)`, 'aria-hidden': 'true' });
}

/** Level at each end; one that leads back hangs below the boxes. */
function curve([start, ...rest]: readonly Point[]): string {
  let from = start ?? { x: 0, y: 0 };
  const parts = rest.map((to) => {
    const bend = Math.max(30, Math.abs(to.x - from.x) / 2);
    const level = from.y === to.y ? `L${to.x} ${to.y}` : `C${from.x + bend} ${from.y} ${to.x - bend} ${to.y} ${to.x} ${to.y}`;
    const part = to.x < from.x ? `C${from.x} ${from.y + DIP} ${to.x} ${to.y + DIP} ${to.x} ${to.y}` : level;
    from = to;
    return part;
  });
  return `M${start?.x} ${start?.y}${parts.join('')}`;
}

function arrowHeads(): SVGDefsElement {
  const head = (name: string) =>
    drawing(
      'marker',
      { id: `${name}-head`, class: name, viewBox: '0 0 8 8', refX: '7', refY: '4', markerWidth: '7', markerHeight: '7', orient: 'auto' },
      drawing('path', { d: 'M0 0L8 4L0 8z' }),
    );
  return drawing('defs', {}, head('call'), head('cycle'), head('taken'));
}

function listed(node: AgentNode): HTMLLIElement {
  const made = element('button', { type: 'button', ...(node.state === 'missing' ? { disabled: '' } : {}) }, node.name);
  made.addEventListener('click', () => open(node));
  return element('li', {}, made, ` ${inWords(node, all).split('; ').slice(1).join('; ')}`);
}

function zoomButtons(): HTMLButtonElement[] {
  const button = (label: string, text: string, action: () => void) => {
    const made = element('button', { type: 'button', 'aria-label': label, title: label }, text);
    made.addEventListener('click', action);
    return made;
  };
  return [
    button('Zoom in', '+', () => choose({ zoom: zoomNow() * ZOOMS['+'] })),
    button('Zoom out', '−', () => choose({ zoom: zoomNow() * ZOOMS['-'] })),
    button('Fit into the window', 'Fit', () => fit()),
  ];
}

function boxOf(id: string | undefined): SVGGElement | undefined {
  return [...svg.querySelectorAll<SVGGElement>('.agent')].find((each) => each.dataset['agent'] === id);
}

function bringIntoView(id: string | undefined): void {
  boxOf(id)?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
}
