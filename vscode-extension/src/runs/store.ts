// All runs that are known: those that this window hears of as they happen, and those that are remembered, of which the events
// are asked for when somebody wants to look. Knows nothing of VS Code.

import type { Happening, PastRun } from '../protocol';
import { runOf, type Node, type RunNode } from './nodes';
import { RunTree } from './runTree';

const PAGE = 50;

/** What the server answers. */
export interface Source {
  /** Root runs that are remembered, newest first. */
  runs(params: { readonly limit: number; readonly before?: string }): Promise<readonly PastRun[]>;
  /** What happened in a root run and below it, after the event of that number. */
  events(params: { readonly runId: string; readonly after: number }): Promise<readonly Happening[]>;
}

interface Known {
  readonly tree: RunTree;
  /** Whether this window hears what happens in it. */
  isLive: boolean;
  /** The number of the last event that was heard. */
  heard: number;
  loading?: Promise<void> | undefined;
}

export class RunStore {
  private readonly known = new Map<string, Known>();
  private oldest: PastRun | undefined;
  /** Whether there may be runs that are older than all that are known. */
  hasMore = false;

  /** `onChange` hears which node is another now, or that the list of runs is. */
  constructor(
    private readonly source: Source,
    private readonly onChange: (changed: Node | undefined) => void,
  ) {}

  /** The root runs, newest first. */
  roots(): RunNode[] {
    return [...this.known.values()].map(({ tree }) => tree.root).sort((one, other) => other.began - one.began);
  }

  /** The runs that this window hears of, and may stop. */
  going(): RunNode[] {
    return this.roots().filter((root) => root.status === 'running' && this.known.get(root.runId)?.isLive);
  }

  isWhole(root: RunNode): boolean {
    return (this.known.get(root.runId)?.tree.lastSeq ?? 0) > 0;
  }

  /** A run that this window knows, at any depth. */
  run(rootRunId: string, runId: string): RunNode | undefined {
    return this.known.get(rootRunId)?.tree.run(runId);
  }

  /** Something happens now. */
  take(event: Happening): void {
    const { rootRunId, seq } = event.params;
    const known = this.known.get(rootRunId);
    if (!known) {
      this.meet(event);
      return;
    }
    known.isLive = true;
    known.tree.root.waitsElsewhere = false; // Its questions come to this server.
    known.heard = Math.max(known.heard, seq);
    if (known.loading || seq > known.tree.lastSeq + 1) {
      void this.catchUp(known).catch(() => undefined); // Whoever looks at the run asks again.
    } else {
      known.tree.take(event).forEach(this.onChange);
    }
  }

  /** Nobody hears any more of the runs that are under way; returns them, children before their parents. */
  loseAll(now: number): readonly RunNode[] {
    const live = [...this.known.values()].filter((known) => known.isLive);
    const lost = live.flatMap(({ tree }) => tree.lose(now));
    live.forEach((known) => (known.isLive = false));
    this.onChange(undefined);
    lost.forEach(this.onChange);
    return lost;
  }

  /** What is remembered by now: new runs, and how those of others go on. */
  async refresh(): Promise<void> {
    const newest = await this.source.runs({ limit: PAGE });
    if (!this.oldest) {
      this.oldest = newest.at(-1);
      this.hasMore = newest.length === PAGE;
    }
    this.adoptAll(newest);
    const listed = new Set(newest.map((past) => past.runId));
    await Promise.all(this.elsewhere().filter((known) => this.isFollowed(known, listed)).map((known) => this.catchUp(known)));
  }

  /** Another list of runs is remembered from now on, such as that of other folders. */
  begin(): void {
    this.oldest = undefined;
    this.hasMore = false;
  }

  /** So many older runs. */
  async loadMore(limit = PAGE): Promise<void> {
    const before = this.oldest?.runId;
    const older = await this.source.runs({ limit, ...(before === undefined ? {} : { before }) });
    this.oldest = older.at(-1) ?? this.oldest;
    this.hasMore = older.length === limit;
    this.adoptAll(older);
    this.onChange(undefined);
  }

  /** Sees to it that all that has happened in the run of a node until now is in its tree. */
  async load(node: Node): Promise<void> {
    const known = this.known.get(runOf(node).rootRunId);
    if (known && known.tree.lastSeq === 0) {
      await this.catchUp(known);
    }
  }

  /** Sees what has happened by now in a root run that this window does not hear of. */
  async look({ runId, status }: RunNode): Promise<void> {
    const known = this.known.get(runId);
    if (known && !known.isLive && status === 'running') {
      await this.catchUp(known);
    }
  }

  /** The root run of that id with all that happened in it, whether it was known or not. */
  async find(runId: string): Promise<RunNode | undefined> {
    const known = this.known.get(runId) ?? (await this.discover(runId));
    if (known) {
      await this.load(known.tree.root);
    }
    return known?.tree.root;
  }

  /** A run that is in no list yet begins with its beginning, if it is remembered. */
  private async discover(runId: string): Promise<Known | undefined> {
    const [first, ...others] = await this.source.events({ runId, after: 0 });
    if (first?.method !== 'axe/agent' || first.params.kind !== 'begin' || this.known.has(runId)) {
      return this.known.get(runId);
    }
    const tree = RunTree.begun(first.params);
    others.forEach((event) => tree.take(event));
    const known = { tree, isLive: false, heard: tree.lastSeq };
    this.known.set(runId, known);
    this.onChange(undefined);
    return known;
  }

  /** The first that is heard of a run is its beginning, unless it began before anybody listened. */
  private meet({ method, params }: Happening): void {
    if (method === 'axe/agent' && params.kind === 'begin' && params.runId === params.rootRunId) {
      this.known.set(params.rootRunId, { tree: RunTree.begun(params), isLive: true, heard: params.seq });
      this.onChange(undefined);
    } else {
      void this.refresh().catch(() => undefined); // The next event of the run asks again.
    }
  }

  private adoptAll(found: readonly PastRun[]): void {
    const before = this.known.size;
    found.forEach((past) => this.adopt(past));
    if (this.known.size > before) {
      this.onChange(undefined);
    }
  }

  private adopt(past: PastRun): void {
    const known = this.known.get(past.runId);
    if (!known) {
      this.known.set(past.runId, { tree: RunTree.remembered(past), isLive: false, heard: 0 });
    } else if (known.tree.lastSeq === 0 && known.tree.root.status !== past.status) {
      known.tree.update(past); // A tree with events in it hears of its end from the events.
      this.onChange(known.tree.root);
    } else if (past.status === 'running' && known.tree.root.ended !== undefined) {
      known.tree.regain().forEach(this.onChange);
      void this.catchUp(known).catch(() => undefined); // It was resumed; the next look asks again.
    } else if (!known.isLive && (known.tree.root.waitsElsewhere ?? false) !== (past.waits ?? false)) {
      known.tree.root.waitsElsewhere = past.waits === true;
      this.onChange(known.tree.root);
    }
  }

  private elsewhere(): Known[] {
    return [...this.known.values()].filter(({ isLive, tree }) => !isLive && tree.root.status === 'running');
  }

  /** Of the others the list says enough. */
  private isFollowed({ tree }: Known, listed: ReadonlySet<string>): boolean {
    return tree.lastSeq > 0 || !listed.has(tree.root.runId);
  }

  private catchUp(known: Known): Promise<void> {
    known.loading ??= this.fetch(known).finally(() => (known.loading = undefined));
    return known.loading;
  }

  /** What is heard while the answer is on its way is a part of the next one. */
  private async fetch(known: Known): Promise<void> {
    const { tree } = known;
    let answered: readonly Happening[];
    do {
      const { status } = tree.root;
      const isFirst = tree.lastSeq === 0; // Whoever asks for the first time shows what comes anyhow.
      answered = await this.source.events({ runId: tree.root.runId, after: tree.lastSeq });
      const changed = answered.flatMap((event) => tree.take(event));
      new Set(isFirst && status === tree.root.status ? [] : changed).forEach(this.onChange);
    } while (tree.lastSeq < known.heard && answered.length > 0);
  }
}
