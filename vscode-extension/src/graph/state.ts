// What the page of the graph is told: agents with what there is to say of each, and who may call whom. Knows nothing of VS Code.

import type { Problems } from '../agents/rows';
import { problemsText } from '../agents/rows';
import type { Graph, GraphNode } from '../agents/protocol';
import { callOf, NOBODY, type Live, type LiveAgent } from './live';

export interface GraphState {
  readonly nodes: readonly AgentNode[];
  readonly edges: readonly Edge[];
  /** The agent in the editor. */
  readonly active: string | undefined;
  /** False while agents are still being read. */
  readonly complete: boolean;
}

export interface AgentNode {
  readonly id: string;
  readonly name: string;
  readonly state: 'missing' | 'error' | 'warning' | 'fine';
  readonly inCycle: boolean;
  readonly reachable: boolean;
  /** Its model, with its price if that is known; of an agent without a file that. */
  readonly about: string;
  /** What it does in the runs that are going on. */
  readonly live?: LiveAgent | undefined;
  /** What else there is to say, in words. */
  readonly remarks: string;
}

export interface Edge {
  readonly from: string;
  readonly to: string;
  /** By `Task`, if it lists the agent among its types. */
  readonly byTask: boolean;
  readonly inCycle: boolean;
  /** Whether a run that is going on has taken this way. */
  readonly isTaken: boolean;
}

/** What the page asks for. */
export interface GraphMessage {
  readonly open: string;
}

export function stateOf(graph: Graph, problemsOf: (id: string) => Problems, active: string | undefined, live: Live = NOBODY): GraphState {
  const cycles = new Map(graph.cycles.flatMap(({ agents }, number) => agents.map((agent) => [agent, number] as const)));
  const nodes = graph.nodes.map((node) => {
    const problems = problemsOf(node.id);
    const inCycle = cycles.has(node.id);
    const state = !node.defined ? 'missing' : problems.errors > 0 ? 'error' : problems.warnings > 0 ? 'warning' : 'fine';
    const doing = live.agents.get(node.name);
    const remarks = [
      problemsText(problems),
      inCycle ? 'part of a cycle' : '',
      node.reachable || !node.defined ? '' : 'too deep to be called',
    ];
    const isPale = !node.reachable && node.defined;
    return { id: node.id, name: node.name, state, inCycle, reachable: !isPale, about: aboutModel(node), live: doing, remarks: remarks.filter(Boolean).join(', ') } as const;
  });
  const names = new Map(graph.nodes.map(({ id, name }) => [id, name]));
  const edges = graph.edges.map(({ from, to, via }) => {
    const knot = cycles.get(from);
    const isTaken = live.calls.has(callOf(names.get(from) ?? '', names.get(to) ?? ''));
    return { from, to, byTask: via === 'task.types', inCycle: via === 'sub_agents' && knot !== undefined && knot === cycles.get(to), isTaken };
  });
  return { nodes, edges, active, complete: graph.complete };
}

/** The model as its provider calls it, and what a million tokens cost in and out. */
function aboutModel({ defined, model, price }: GraphNode): string {
  if (!defined) {
    return 'no file defines it';
  }
  const name = model?.replace(/^[^/]*\//, '') ?? '';
  return price ? `${name} · $${price.input} / $${price.output}` : name;
}
