// Where agents stand: in layers from left to right, callers before those that they call. Those that have to do with nobody
// stand in rows below. Knows nothing of VS Code, nor of a page.

import { layersOf, mean, type Slot } from './layers';
import type { AgentNode, Edge, GraphState } from './state';

export interface Point {
  readonly x: number;
  readonly y: number;
}

/** The point is the middle of the box. */
export interface Placed extends Point {
  readonly id: string;
  readonly width: number;
  readonly node: AgentNode;
}

/** The points that a line goes through, from the side of one box to that of the other; from below for one that leads back. */
export interface PlacedEdge {
  readonly edge: Edge;
  readonly points: readonly Point[];
}

export interface Layout {
  readonly nodes: readonly Placed[];
  readonly edges: readonly PlacedEdge[];
  readonly width: number;
  readonly height: number;
}

export const BOX_HEIGHT = 44;

const GAP = 14;
const LAYER_GAP = 64;
const MARGIN = 20;
const CHARACTER = 7.6;
const SMALL_CHARACTER = 6.2;
const LONGEST_NAME = 40;
/** There is room for what an agent does. */
const NARROWEST = 150;
const ROW_WIDTH = 1000;
const SWEEPS = 4;

export function layout({ nodes, edges }: GraphState): Layout {
  const lines = edges.filter(({ from, to }) => from !== to);
  const busy = new Set(lines.flatMap(({ from, to }) => [from, to]));
  const layered = inLayers(nodes.filter(({ id }) => busy.has(id)), lines);
  const [width, height] = extent(layered.nodes);
  const rows = inRows(nodes.filter(({ id }) => !busy.has(id)), height, Math.max(ROW_WIDTH, width));
  const all = [...layered.nodes, ...rows];
  const [wholeWidth, wholeHeight] = extent(all);
  return { nodes: all, edges: layered.edges, width: wholeWidth, height: wholeHeight };
}

/** A name of any length, as far as there is room for it. */
export function shownName(name: string): string {
  const letters = [...name];
  return letters.length > LONGEST_NAME ? `${letters.slice(0, LONGEST_NAME - 1).join('')}…` : name;
}

function inLayers(nodes: readonly AgentNode[], edges: readonly Edge[]): Pick<Layout, 'nodes' | 'edges'> {
  const known = new Map(nodes.map((node) => [node.id, node]));
  const { layers, chains } = layersOf([...known.keys()], edges);
  const heights = heightsOf(layers);
  const placed = new Map<string, Placed>();
  const columns: { left: number; right: number }[] = [];
  for (const layer of layers) {
    const boxes = layer.flatMap(({ id }) => known.get(id) ?? []);
    const left = columns.length === 0 ? MARGIN : (columns[columns.length - 1]?.right ?? 0) + LAYER_GAP;
    columns.push({ left, right: left + Math.max(...boxes.map(widthOf)) });
    for (const slot of layer) {
      const node = known.get(slot.id);
      if (node) {
        const width = widthOf(node);
        placed.set(slot.id, { id: slot.id, node, width, x: left + width / 2, y: heights.get(slot) ?? 0 });
      }
    }
  }
  const lines = edges.map((edge) => {
    const [from, to] = [placed.get(edge.from) as Placed, placed.get(edge.to) as Placed];
    const chain = chains.get(edge);
    if (!chain) {
      return { edge, points: [below(from), below(to)] };
    }
    const passed = chain.slice(1, -1).flatMap((slot) => {
      const { left, right } = columns[slot.layer] as { left: number; right: number };
      const y = heights.get(slot) ?? 0;
      return [{ x: left, y }, { x: right, y }];
    });
    return { edge, points: [{ x: from.x + from.width / 2, y: from.y }, ...passed, { x: to.x - to.width / 2, y: to.y }] };
  });
  return { nodes: [...placed.values()], edges: lines };
}

/** Where a line that leads back begins and ends. */
function below({ x, y }: Placed): Point {
  return { x, y: y + BOX_HEIGHT / 2 };
}

/** Each slot as near to those that it is tied to as its neighbours let it. */
function heightsOf(layers: readonly (readonly Slot[])[]): Map<Slot, number> {
  const heights = new Map<Slot, number>();
  layers.forEach((layer) => stack(layer, layer.map(() => 0), heights));
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    const isForward = sweep % 2 === 0;
    for (const layer of isForward ? layers : [...layers].reverse()) {
      const aims = layer.map((slot) => mean((isForward ? slot.before : slot.behind).map((tied) => heights.get(tied) ?? 0), heights.get(slot) ?? 0));
      stack(layer, aims, heights);
    }
  }
  const highest = Math.min(...heights.values());
  heights.forEach((height, slot) => heights.set(slot, height - highest + MARGIN + BOX_HEIGHT / 2));
  return heights;
}

/** Below each other, without touching, and on average where they want to be. */
function stack(layer: readonly Slot[], aims: readonly number[], heights: Map<Slot, number>): void {
  let low = -Infinity;
  const found = layer.map((slot, index) => {
    const room = slot.id ? BOX_HEIGHT + GAP : GAP;
    low = Math.max(aims[index] ?? 0, low + room);
    return low;
  });
  const shift = mean(found.map((height, index) => height - (aims[index] ?? 0)), 0);
  layer.forEach((slot, index) => heights.set(slot, (found[index] ?? 0) - shift));
}

function inRows(nodes: readonly AgentNode[], top: number, rowWidth: number): Placed[] {
  let [x, y] = [MARGIN, top + BOX_HEIGHT / 2];
  return nodes.map((node) => {
    const width = widthOf(node);
    if (x > MARGIN && x + width > rowWidth) {
      [x, y] = [MARGIN, y + BOX_HEIGHT + GAP];
    }
    const placed = { id: node.id, node, width, x: x + width / 2, y };
    x += width + GAP;
    return placed;
  });
}

/** Of all boxes, with the margin. */
function extent(nodes: readonly Placed[]): [number, number] {
  const right = nodes.reduce((most, { x, width }) => Math.max(most, x + width / 2), 0);
  const low = nodes.reduce((most, { y }) => Math.max(most, y + BOX_HEIGHT / 2), 0);
  return [right + MARGIN, low + MARGIN];
}

function widthOf({ name, about }: AgentNode): number {
  const [first, second] = [name, about].map((text) => [...shownName(text)].length) as [number, number];
  return Math.max(NARROWEST, first * CHARACTER + 44, second * SMALL_CHARACTER + 20);
}
