// Which agents stand around one, and where an arrow key leads. Knows nothing of VS Code, nor of a page.

import type { Placed } from './layout';
import type { AgentNode, Edge, GraphState } from './state';

/** The agents that can be reached from one in so many steps, up or down. */
export function around(edges: readonly Edge[], center: string, steps: number): Set<string> {
  const beside = new Map<string, string[]>();
  for (const { from, to } of edges) {
    beside.set(from, [...(beside.get(from) ?? []), to]);
    beside.set(to, [...(beside.get(to) ?? []), from]);
  }
  const found = new Set([center]);
  let border = [center];
  for (let step = 0; step < steps; step++) {
    border = [...new Set(border.flatMap((id) => beside.get(id) ?? []))].filter((id) => !found.has(id));
    border.forEach((id) => found.add(id));
  }
  return found;
}

export function part({ nodes, edges, ...rest }: GraphState, kept: ReadonlySet<string>): GraphState {
  return {
    ...rest,
    nodes: nodes.filter(({ id }) => kept.has(id)),
    edges: edges.filter(({ from, to }) => kept.has(from) && kept.has(to)),
  };
}

/** Right and left follow calls, down and back up; up and down go to what stands beside in the same layer. */
export function next(from: Placed, key: string, placed: readonly Placed[], edges: readonly Edge[]): Placed | undefined {
  const among = (ids: readonly string[]) => placed.filter(({ id }) => id !== from.id && ids.includes(id));
  switch (key) {
    case 'ArrowRight':
      return nearest(from, among(edges.filter((edge) => edge.from === from.id).map(({ to }) => to)));
    case 'ArrowLeft':
      return nearest(from, among(edges.filter((edge) => edge.to === from.id).map((edge) => edge.from)));
    case 'ArrowDown':
      return nearest(from, placed.filter((each) => isBeside(each, from) && each.y > from.y));
    case 'ArrowUp':
      return nearest(from, placed.filter((each) => isBeside(each, from) && each.y < from.y));
    default:
      return undefined;
  }
}

/** An agent in a sentence, as a screen reader says it. */
export function inWords({ id, name, about, live, remarks }: AgentNode, { nodes, edges }: GraphState): string {
  const names = new Map(nodes.map((node) => [node.id, node.name]));
  const list = (ids: readonly string[]) => [...new Set(ids)].map((each) => names.get(each) ?? each).join(', ');
  const calls = list(edges.filter(({ from }) => from === id).map(({ to }) => to));
  const callers = list(edges.filter(({ to }) => to === id).map(({ from }) => from));
  return [name, live?.words ?? about, remarks, calls ? `calls ${calls}` : 'calls nobody', callers ? `called by ${callers}` : 'called by nobody'].filter(Boolean).join('; ');
}

/** The best match for what somebody searches: the whole name, its beginning, a part of it. */
export function found(nodes: readonly AgentNode[], text: string): AgentNode | undefined {
  const wanted = text.trim().toLowerCase();
  const named = (fits: (name: string) => boolean) => nodes.find(({ name }) => fits(name.toLowerCase()));
  return wanted ? (named((name) => name === wanted) ?? named((name) => name.startsWith(wanted)) ?? named((name) => name.includes(wanted))) : undefined;
}

/** Boxes of one layer begin below each other. */
function isBeside(one: Placed, other: Placed): boolean {
  return Math.abs(one.x - one.width / 2 - (other.x - other.width / 2)) < 1;
}

function nearest(from: Placed, candidates: readonly Placed[]): Placed | undefined {
  const distance = ({ x, y }: Placed) => Math.hypot(x - from.x, y - from.y);
  return [...candidates].sort((one, other) => distance(one) - distance(other))[0];
}
