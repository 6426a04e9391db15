// What the page of the graph is told: agents with what there is to say of each, and who may call whom. Knows nothing of VS Code.

import type { Problems } from '../agents/rows';
import { problemsText } from '../agents/rows';
import type { Graph } from '../agents/protocol';

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
  /** What there is to say beside the name, in words. */
  readonly remarks: string;
}

export interface Edge {
  readonly from: string;
  readonly to: string;
  /** By `Task`, if it lists the agent among its types. */
  readonly byTask: boolean;
  readonly inCycle: boolean;
}

/** What the page asks for. */
export interface GraphMessage {
  readonly open: string;
}

export function stateOf(graph: Graph, problemsOf: (id: string) => Problems, active: string | undefined): GraphState {
  const cycles = new Map(graph.cycles.flatMap(({ agents }, number) => agents.map((agent) => [agent, number] as const)));
  const nodes = graph.nodes.map((node) => {
    const problems = problemsOf(node.id);
    const inCycle = cycles.has(node.id);
    const state = !node.defined ? 'missing' : problems.errors > 0 ? 'error' : problems.warnings > 0 ? 'warning' : 'fine';
    const remarks = [
      node.defined ? '' : 'no file defines it',
      problemsText(problems),
      inCycle ? 'part of a cycle' : '',
      node.reachable || !node.defined ? '' : 'too deep to be called',
    ];
    return { id: node.id, name: node.name, state, inCycle, reachable: node.reachable || !node.defined, remarks: remarks.filter(Boolean).join(', ') } as const;
  });
  const edges = graph.edges.map(({ from, to, via }) => {
    const knot = cycles.get(from);
    return { from, to, byTask: via === 'task.types', inCycle: via === 'sub_agents' && knot !== undefined && knot === cycles.get(to) };
  });
  return { nodes, edges, active, complete: graph.complete };
}
