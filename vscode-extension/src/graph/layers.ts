// Layers of a graph: who is called stands behind who calls, and beside those with the same callers. A line over several layers
// has a place in each of them, so that it goes round what stands there. Knows nothing of agents.

export interface Line {
  readonly from: string;
  readonly to: string;
}

/** A node, or the place of a line in a layer that it passes. */
export interface Slot {
  readonly id: string;
  readonly layer: number;
  /** The slots that it is tied to in the layer before and in the one behind. */
  readonly before: Slot[];
  readonly behind: Slot[];
}

export interface Layers {
  readonly layers: readonly Slot[][];
  /** The slots that each line goes through; none for one that leads back. */
  readonly chains: ReadonlyMap<Line, readonly Slot[]>;
}

const SWEEPS = 6;

export function layersOf(ids: readonly string[], lines: readonly Line[]): Layers {
  const order = callersFirst(ids, lines);
  const rank = new Map(order.map((id, number) => [id, number]));
  const forward = lines.filter(({ from, to }) => (rank.get(from) ?? 0) < (rank.get(to) ?? 0));
  const depth = depths(order, forward);
  const slots = new Map(order.map((id) => [id, slot(id, depth.get(id) ?? 0)]));
  const chains = new Map(forward.map((line) => [line, chain(line, slots)]));
  const layers: Slot[][] = [];
  for (const each of new Set([...slots.values(), ...[...chains.values()].flat()])) {
    (layers[each.layer] ??= []).push(each);
  }
  return { layers: untangled(layers), chains };
}

/** Depth first, so that calls lead forward but for those that close a cycle. */
function callersFirst(ids: readonly string[], lines: readonly Line[]): string[] {
  const calls = new Map(ids.map((id) => [id, [] as string[]]));
  const called = new Set<string>();
  for (const { from, to } of lines) {
    calls.get(from)?.push(to);
    called.add(to);
  }
  const seen = new Set<string>();
  const done: string[] = [];
  for (const root of [...ids.filter((id) => !called.has(id)), ...ids]) {
    const path: { id: string; rest: string[] }[] = seen.has(root) ? [] : [{ id: root, rest: [...(calls.get(root) ?? [])] }];
    seen.add(root);
    while (path.length > 0) {
      const top = path[path.length - 1] as { id: string; rest: string[] };
      const id = top.rest.shift();
      if (id === undefined) {
        done.push(top.id);
        path.pop();
      } else if (!seen.has(id)) {
        seen.add(id);
        path.push({ id, rest: [...(calls.get(id) ?? [])] });
      }
    }
  }
  return done.reverse();
}

function depths(order: readonly string[], forward: readonly Line[]): Map<string, number> {
  const depth = new Map(order.map((id) => [id, 0]));
  const calls = new Map(order.map((id) => [id, [] as string[]]));
  forward.forEach(({ from, to }) => calls.get(from)?.push(to));
  for (const from of order) {
    for (const to of calls.get(from) ?? []) {
      depth.set(to, Math.max(depth.get(to) ?? 0, (depth.get(from) ?? 0) + 1));
    }
  }
  return depth;
}

function chain({ from, to }: Line, slots: ReadonlyMap<string, Slot>): Slot[] {
  const [first, last] = [slots.get(from) as Slot, slots.get(to) as Slot];
  const between = Array.from({ length: last.layer - first.layer - 1 }, (_, step) => slot('', first.layer + step + 1));
  const all = [first, ...between, last];
  all.slice(1).forEach((each, index) => tie(all[index] as Slot, each));
  return all;
}

function tie(one: Slot, other: Slot): void {
  one.behind.push(other);
  other.before.push(one);
}

function slot(id: string, layer: number): Slot {
  return { id, layer, before: [], behind: [] };
}

/** Puts each slot where those that it is tied to are on average, forwards and backwards in turn. */
function untangled(layers: Slot[][]): Slot[][] {
  const place = new Map<Slot, number>();
  const number = (layer: readonly Slot[]) => layer.forEach((each, index) => place.set(each, index / layer.length));
  layers.forEach(number);
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    const isForward = sweep % 2 === 0;
    for (const layer of isForward ? layers : [...layers].reverse()) {
      const aim = new Map(layer.map((each) => [each, mean((isForward ? each.before : each.behind).map((tied) => place.get(tied) ?? 0), place.get(each) ?? 0)]));
      layer.sort((one, other) => (aim.get(one) ?? 0) - (aim.get(other) ?? 0));
      number(layer);
    }
  }
  return layers;
}

export function mean(values: readonly number[], otherwise: number): number {
  return values.length === 0 ? otherwise : values.reduce((sum, value) => sum + value, 0) / values.length;
}
