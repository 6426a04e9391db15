// What the server tells of agents. The names are the wire's.

import { NotificationType0, RequestType, RequestType0 } from 'vscode-languageclient/node';
import type { Schema } from '../forms/fields';
import type { RunParams } from '../protocol';

export interface Agent {
  readonly name: string;
  /** Null for the built-in types, which have no file. */
  readonly uri: string | null;
  readonly scope: 'workspace' | 'user' | 'builtin';
  readonly description: string;
  readonly model: string;
  readonly subAgents: readonly string[];
  readonly tools: readonly string[];
}

/** Who may call whom. Ids are URIs, of agents that no file defines their names. */
export interface Graph {
  /** False while agent files are still being read. */
  readonly complete: boolean;
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly GraphEdge[];
  readonly cycles: readonly { readonly agents: readonly string[]; readonly path: readonly string[] }[];
  readonly unreachable: readonly { readonly agent: string; readonly path: readonly string[] }[];
}

export interface GraphNode {
  readonly id: string;
  readonly name: string;
  readonly defined: boolean;
  readonly root: boolean;
  readonly reachable: boolean;
  readonly uri?: string;
  readonly scope?: 'workspace' | 'user';
  readonly model?: string;
  /** In US dollars for a million tokens, if the model is a known one. */
  readonly price?: { readonly input: number; readonly output: number };
}

export interface GraphEdge {
  readonly from: string;
  readonly to: string;
  readonly via: 'sub_agents' | 'task.types';
}

/** A folder in which a new agent may lie. */
export interface AgentFolder {
  readonly uri: string;
  readonly scope: 'workspace' | 'user';
  readonly exists: boolean;
}

export const AgentsRequest = new RequestType0<Agent[], unknown>('axe/agents');
export const FoldersRequest = new RequestType0<AgentFolder[], unknown>('axe/folders');
export const GraphRequest = new RequestType<{ format: 'json' }, Graph, unknown>('axe/graph');
export const AgentsChangedNotification = new NotificationType0('axe/agentsChanged');

/** A piece of what would be sent. `name` is a path, a skill or a tool. */
export interface PromptPart {
  readonly kind: 'systemPrompt' | 'skill' | 'file' | 'memory' | 'output' | 'userMessage' | 'tool';
  readonly name: string;
  readonly text: string;
  readonly tokens: number;
}

export interface Preview {
  readonly model: string;
  readonly workdir: string;
  readonly subAgents: readonly string[];
  readonly estimatedTokens: number;
  readonly parts: readonly PromptPart[];
  /** What the user should know before a run. */
  readonly warnings?: readonly string[];
  /** How many tokens the model can take, if that is known. */
  readonly contextWindow?: number;
  /** Where it works when another agent calls it, if that is not where its caller does. */
  readonly isolation?: string;
  /** Of an agent with `[input]`. */
  readonly inputSchema?: Schema;
}

export const PreviewRequest = new RequestType<RunParams, Preview, unknown>('axe/preview');
