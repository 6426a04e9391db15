// The view "Runs": a tree of what goes on and of what is remembered, by day.

import { basename } from 'node:path';
import {
  commands,
  EventEmitter,
  MarkdownString,
  ThemeColor,
  ThemeIcon,
  TreeItem,
  TreeItemCollapsibleState,
  window,
  type Disposable,
  type TreeDataProvider,
} from 'vscode';
import { TIME_TO_READ, type OpenQuestion, type OpenQuestions } from '../openQuestions';
import type { Inquiry, Question } from '../protocol';
import { purposeOf } from '../questions';
import { askingCall } from './calls';
import { Changes, type Changed } from './changes';
import { costsInWords } from './costs';
import { beginningOfDay, byDay, type Day } from './days';
import { passes, wordsOf } from './filter';
import { count, joined } from './figures';
import { childrenOf, idOf, isNode, parentOf, runOf, type Node, type RunNode } from './nodes';
import { rowOf, type Asks, type Row } from './presenting';
import { uriOf } from './runDocuments';
import type { Runs } from './runs';

/** How often times that go on are drawn anew, and others are asked for news. */
const PULSE = 1000;
const PULSES_PER_LOOK = 2;

/**
 * Milliseconds between two events of the tree. VS Code waits until there was none for 200, and begins to wait anew at each of
 * them: with less between them it would draw nothing as long as text arrives.
 */
const REST = 500;

/** Whole runs are drawn anew more rarely than the rows that go on: a tree that is never at rest is hard to click on. */
const PULSES_PER_RUN = 5;

interface DayGroup extends Day {
  readonly kind: 'day';
}

interface More {
  readonly kind: 'more';
}

type Element = Node | DayGroup | More;

const MORE: More = { kind: 'more' };

export class RunsView implements TreeDataProvider<Element>, Disposable {
  private readonly changed = new EventEmitter<Element[] | undefined>();
  readonly onDidChangeTreeData = this.changed.event;
  private readonly tree = window.createTreeView<Element>('axeLsp.runs', {
    treeDataProvider: this,
    canSelectMany: true,
    showCollapseAll: true,
  });
  private readonly redraws = new Changes(REST);
  private readonly subscriptions: Disposable[] = [this.tree, this.changed, this.redraws];
  /** The questions that stand in rows, by the id of the row, and since when. */
  private readonly asked = new Map<string, { readonly question: OpenQuestion; readonly since: number }>();
  /** What the rows say. */
  private readonly shown = new WeakMap<Node, string>();
  private readonly pulse = setInterval(() => this.beat(), PULSE);
  private beats = 0;
  private isLooking = false;
  private wanted = '';

  constructor(
    private readonly runs: Runs,
    private readonly questions: OpenQuestions,
    private readonly start: () => Promise<unknown>,
  ) {
    this.subscriptions.push(
      this.redraws.onDidChange(({ list, nodes }) => (list ? this.drawList() : this.changed.fire([...nodes]))),
      runs.changes.onDidChange((changed) => this.draw(changed)),
      questions.onDidChange((question) => this.point(question)),
      runs.onDidConnect(() => void (this.tree.visible && this.look())),
      this.tree.onDidChangeVisibility(({ visible }) => void (visible && this.start().then(() => this.look()))),
    );
  }

  /** The words that all rows have; empty if all runs are shown. */
  get filter(): string {
    return this.wanted;
  }

  /** Shows the runs alone that have all these words. */
  set filter(words: string) {
    this.wanted = words;
    void commands.executeCommand('setContext', 'axeLsp.runsFiltered', this.isFiltered);
    this.drawList();
  }

  /** Shows the runs of all folders, or those of this window. */
  async showEverywhere(everywhere: boolean): Promise<void> {
    void commands.executeCommand('setContext', 'axeLsp.runsEverywhere', everywhere);
    await this.runs.look(everywhere);
    this.drawList();
  }

  async getChildren(element?: Element): Promise<Element[]> {
    if (!element) {
      return this.top();
    }
    switch (element.kind) {
      case 'day':
        return [...element.runs];
      case 'more':
        return [];
      default:
        await this.runs.store.load(element);
        return [...childrenOf(element)];
    }
  }

  getParent(element: Element): Element | undefined {
    if (element.kind === 'day' || element.kind === 'more') {
      return undefined;
    }
    return parentOf(element) ?? this.days().find((day) => day.begins === beginningOfDay(element.began));
  }

  getTreeItem(element: Element): TreeItem {
    switch (element.kind) {
      case 'day':
        return itemOfDay(element, this.isFiltered);
      case 'more':
        return itemOfMore();
      default:
        return this.itemOf(element);
    }
  }

  /** Shows a run, if the view is open or the user wants to see it; then no filter hides it. */
  async reveal(run: RunNode, force: boolean): Promise<void> {
    const isHidden = !this.passes(run);
    if (force && isHidden) {
      this.filter = '';
      await (this.runs.isEverywhere || this.runs.isHere(run) ? undefined : this.showEverywhere(true));
    }
    if (force || (this.tree.visible && !isHidden)) {
      await this.tree.reveal(run, { select: true, focus: false, expand: true });
    }
  }

  /** The question that stands in the row of a run or of a tool call; none if it has only just come. */
  questionOf(row: unknown): OpenQuestion | undefined {
    const asked = isNode(row) ? this.asked.get(idOf(row)) : undefined;
    return asked && Date.now() - asked.since >= TIME_TO_READ ? asked.question : undefined;
  }

  dispose(): void {
    clearInterval(this.pulse);
    this.subscriptions.forEach((each) => each.dispose());
  }

  private top(): Element[] {
    return this.runs.store.hasMore ? [...this.days(), MORE] : this.days();
  }

  private days(): DayGroup[] {
    return byDay(this.left(), Date.now()).map((day) => ({ kind: 'day', ...day }));
  }

  /** The runs that pass the filter. */
  private left(): RunNode[] {
    return this.runs.roots().filter((run) => this.passes(run));
  }

  /** Draws the list of runs, and says how many of them the filter leaves. */
  private drawList(): void {
    const all = count(this.runs.roots().length, 'run');
    this.tree.message = this.isFiltered ? `${this.left().length} of ${all} with “${this.wanted.trim()}”` : '';
    this.changed.fire(undefined);
  }

  private get isFiltered(): boolean {
    return wordsOf(this.wanted).length > 0;
  }

  /** Of a run that is called, what its root is counts. */
  private passes(run: RunNode): boolean {
    const root = this.runs.store.run(run.rootRunId, run.rootRunId) ?? run;
    const isWaiting = this.questions.all().some(({ question }) => question.rootRunId === root.runId);
    return (this.runs.isEverywhere || this.runs.isHere(root)) && passes(root, isWaiting, this.wanted);
  }

  /** VS Code opens a row only if it was a parent when it first came. */
  private mayHaveChildren(node: Node): boolean {
    const isToCome = node.kind !== 'call' && node.status === 'running';
    return isToCome || childrenOf(node).length > 0 || (node.kind === 'run' && !this.runs.store.isWhole(node));
  }

  /** The open questions of a run, or about a tool call. */
  private openAt(node: Node): readonly OpenQuestion[] {
    if (node.kind === 'turn') {
      return [];
    }
    const run = runOf(node);
    return this.questions.ofRun(run.runId).filter(({ question }) => node.kind === 'run' || askingCall(run, question.callId) === node);
  }

  /** The row is being drawn. It has room for the oldest of its questions. */
  private noteQuestion(node: Node): void {
    const id = idOf(node);
    const [first] = this.openAt(node);
    if (!first) {
      this.asked.delete(id);
    } else if (this.asked.get(id)?.question !== first) {
      this.asked.set(id, { question: first, since: Date.now() });
    }
  }

  private rowOf(node: Node): Row {
    const asks = this.openAt(node).map(({ kind, question, ends }): Asks => ({ kind, purpose: purposeOf(question), ends }));
    const row = rowOf(node, Date.now(), asks);
    const isElsewhere = node.kind === 'run' && node.depth === 0 && !this.runs.isHere(node);
    return isElsewhere ? { ...row, description: joined([basename(node.workspace), row.description]) } : row;
  }

  /** Draws the row of the run that asks, and leads there whoever looks at the tree. */
  private point({ rootRunId, runId, callId }: Question | Inquiry): void {
    this.count();
    const run = this.runs.store.run(rootRunId, runId);
    const call = run && askingCall(run, callId);
    if (call) {
      this.redraws.add(call);
    }
    if (run) {
      this.redraws.add(this.isFiltered ? undefined : run); // It waits, or waits no more.
      if (this.questions.ofRun(runId).length > 0) {
        void this.reveal(run, false);
      }
    }
  }

  private draw({ list, nodes }: Changed): void {
    const mayMove = this.isFiltered && nodes.some((node) => node.kind === 'run' && node.depth === 0);
    if (list || mayMove) {
      this.redraws.add(undefined);
    }
    nodes.forEach((node) => this.redraws.add(node));
    this.count();
  }

  /** How much waits for the user; if nothing does, how many runs are going on. */
  private count(): void {
    const asked = this.questions.all().length;
    const going = this.runs.roots().filter((run) => run.status === 'running').length;
    const tooltip = asked > 0 ? `${count(asked, 'question')} from agents` : `${count(going, 'run')} under way`;
    this.tree.description = costsInWords(this.runs.roots(), Date.now(), !this.runs.store.hasMore);
    this.tree.badge = asked + going > 0 ? { value: asked || going, tooltip } : undefined;
  }

  private beat(): void {
    if (!this.tree.visible) {
      return;
    }
    this.beats += 1;
    const going = this.runs.roots().filter((run) => run.status === 'running');
    const asking = this.questions.all().flatMap(({ question }) => {
      const run = this.runs.store.run(question.rootRunId, question.runId);
      return run ? [run, askingCall(run, question.callId) ?? run] : [];
    });
    const due = this.beats % PULSES_PER_RUN === 0 ? going : going.flatMap(runningLeaves);
    const outdated = [...due.flatMap((node) => this.outdated(node)), ...asking.filter((node) => this.isOutdated(node))];
    new Set(outdated).forEach((node) => this.redraws.add(node));
    if (this.beats % PULSES_PER_LOOK === 0) {
      void this.look();
    }
  }

  /** A node whose row would say something else now, or such nodes below it that are under way. VS Code draws all below a node anew. */
  private outdated(node: Node): Node[] {
    const below = () => childrenOf(node).filter((child) => child.status === 'running');
    return this.isOutdated(node) ? [node] : below().flatMap((child) => this.outdated(child));
  }

  private isOutdated(node: Node): boolean {
    return this.shown.get(node) !== wordsIn(this.rowOf(node));
  }

  private itemOf(node: Node): TreeItem {
    const row = this.rowOf(node);
    this.noteQuestion(node);
    this.shown.set(node, wordsIn(row));
    return itemOf(node, row, this.mayHaveChildren(node));
  }

  /** Other windows and command lines tell nobody of their runs. */
  private async look(): Promise<void> {
    if (this.isLooking) {
      return;
    }
    this.isLooking = true;
    await this.runs.refresh().catch(() => undefined); // It will be asked again.
    this.isLooking = false;
    await commands.executeCommand('setContext', 'axeLsp.historyIsKnown', true);
  }
}

function runningLeaves(node: Node): Node[] {
  const going = childrenOf(node).filter((child) => child.status === 'running');
  return going.length > 0 ? going.flatMap(runningLeaves) : [node];
}

function wordsIn({ label, description, icon }: Row): string {
  return [icon.id, label, description].join(' ');
}

function itemOf(node: Node, row: Row, isParent: boolean): TreeItem {
  const item = new TreeItem(row.label, isParent ? initially(node) : TreeItemCollapsibleState.None);
  item.id = idOf(node);
  item.description = row.description;
  item.tooltip = new MarkdownString().appendText(row.tooltip);
  item.iconPath = new ThemeIcon(row.icon.id, row.icon.color ? new ThemeColor(row.icon.color) : undefined);
  item.contextValue = row.context;
  item.accessibilityInformation = { label: row.spoken };
  item.command = { command: 'vscode.open', title: 'Open', arguments: [uriOf(node)] }; // VS Code adds how: a click leaves the focus here.
  return item;
}

/** What goes on is open, so that one sees it; what is over is closed, but for its turns. */
function initially(node: Node): TreeItemCollapsibleState {
  const isOpen = node.kind === 'turn' || node.status === 'running';
  return isOpen ? TreeItemCollapsibleState.Expanded : TreeItemCollapsibleState.Collapsed;
}

/** What a filter leaves is shown, whatever day it is of: VS Code remembers what was open for each id. */
function itemOfDay(day: DayGroup, isFiltered: boolean): TreeItem {
  const isOpen = isFiltered || day.label === 'Today' || day.runs.some((run) => run.status === 'running');
  const item = new TreeItem(day.label, isOpen ? TreeItemCollapsibleState.Expanded : TreeItemCollapsibleState.Collapsed);
  item.id = `${isFiltered ? 'filtered day' : 'day'} ${day.begins}`;
  return item;
}

function itemOfMore(): TreeItem {
  const item = new TreeItem('Load older runs…');
  item.id = 'more';
  item.command = { command: 'axeLsp.loadMoreRuns', title: 'Load Older Runs' };
  return item;
}
