// The pages of conversations that are open: a webview for each, which follows its runs, takes answers to what agents ask, and
// goes on with a further message.

import { commands, env, ViewColumn, window, type Disposable, type Uri, type WebviewPanel } from 'vscode';
import { KEY_VARIABLES } from '../apiKeys';
import type { OpenQuestion, OpenQuestions } from '../openQuestions';
import type { MessageChange, MessageMode } from '../protocol';
import { reportFailure } from '../reportFailure';
import { mayHaveEdited } from '../runs/editsInWords';
import { rootOf, runOf, type Node, type RunNode } from '../runs/nodes';
import { shortened } from '../runs/figures';
import type { Edits } from '../runs/edits';
import type { Edited } from '../runs/reviews';
import type { Runs } from '../runs/runs';
import { newPanel, onRestored, Panel } from '../webviews/panel';
import { conversationOf, type Conversation } from './conversation';
import { openLink } from './links';
import { remediesOf } from './remedies';
import { questionView, Telling, type PageState, type QuestionView } from './views';

const NAME = 'runPage';
/** Runs of one conversation that a page shows, the newest of them. */
const MOST = 50;
const TITLE = 40;
/** Milliseconds between two looks at runs on pages that another process executes. */
const PULSE = 2000;

/** Which run a page has shown. */
interface Kept {
  readonly runId: string;
}

/** What the reader of a page wants. */
export type Wish =
  | { readonly do: 'stop' | 'again' | 'continue' | 'timeline' | 'switchModel'; readonly runId: string }
  /** Stores the key that a failed run needs. */
  | { readonly do: 'setKey'; readonly runId: string }
  /** The text of a turn, or of the last one. */
  | { readonly do: 'copy'; readonly runId: string; readonly turn?: number }
  /** A root run once more, from a turn on. */
  | { readonly do: 'retry'; readonly runId: string; readonly turn: number }
  | { readonly do: 'reply'; readonly runId: string; readonly text: string }
  /** A message to a run of the page that works. */
  | { readonly do: 'send'; readonly runId: string; readonly text: string; readonly mode: MessageMode; readonly key: number }
  /** Another text or mode for a message that waits; without a text it is removed. */
  | { readonly do: 'change'; readonly runId: string; readonly messageId: string; readonly change: MessageChange }
  /** Another message in place of the one that a root run answers. */
  | { readonly do: 'edit'; readonly runId: string; readonly text: string; readonly key: number }
  | { readonly do: 'answer'; readonly key: number; readonly choice: string; readonly text?: string }
  /** Shows or undoes what a run has changed, or one of its turns, or what that is in one file, as the server names it. */
  | { readonly do: 'review' | 'undo'; readonly runId: string; readonly turn?: number; readonly file?: string }
  | { readonly do: 'link'; readonly target: string }
  | { readonly do: 'copyCode'; readonly text: string };

/** The page on which a run was ordered. */
export interface Origin {
  onBegin(): void;
}

/** What pages can't do themselves. */
export interface Actions {
  stop(run: RunNode): Promise<void>;
  again(run: RunNode): Promise<void>;
  /** Goes on with a root run that ended before it was completed. */
  continue(run: RunNode, origin: Origin): Promise<void>;
  /** A new run that shares the turns before the last one, with another model that the user names. */
  switchModel(run: RunNode): Promise<void>;
  /** A new run that shares the turns before one. */
  retry(run: RunNode, turn: number): Promise<void>;
  timeline(run: RunNode): Promise<void>;
  /** Shows what was changed in files. */
  review(edited: Edited): Promise<void>;
  undo(edited: Edited): Promise<void>;
  /** Sends a further message in the conversation of a run. */
  reply(run: RunNode, text: string, origin: Origin): Promise<void>;
  /** Sends a message to a run that works. */
  send(run: RunNode, text: string, mode: MessageMode): Promise<void>;
  /** Changes a message that waits. */
  change(run: RunNode, messageId: string, change: MessageChange): Promise<void>;
  /** A new run that answers another message at the place of the one that a run answers. */
  edit(run: RunNode, text: string, origin: Origin): Promise<void>;
  answer(asked: OpenQuestion, choice: string, text?: string): Promise<void>;
}

/** A run that the user has started. Others may begin at the same time: those of other clients and of tests. */
interface Order {
  fits(root: RunNode): boolean;
  /** None if it was ordered elsewhere, such as in the view Runs. */
  readonly origin: Origin | undefined;
}

interface Page {
  readonly telling: Telling;
  readonly panel: Panel<PageState, Wish>;
}

export class RunPages implements Disposable {
  private readonly pages = new Set<Page>();
  private readonly keys = new WeakMap<OpenQuestion, number>();
  private lastKey = 0;
  /** For each run that the user has ordered and that has not begun, oldest first. */
  private readonly expected = new Set<Order>();
  private readonly subscriptions: readonly Disposable[];
  private actions: Actions | undefined;
  private readonly pulse = setInterval(() => this.beat(), PULSE);

  constructor(
    private readonly extension: Uri,
    private readonly runs: Runs,
    private readonly edits: Edits,
    private readonly questions: OpenQuestions,
    private readonly start: () => Promise<unknown>,
  ) {
    this.subscriptions = [
      runs.changes.onDidChange(({ nodes }) => this.refresh(nodes)),
      edits.onDidChange((root) => this.refresh(edits.runsOf(root).flatMap((runId) => runs.store.run(root.runId, runId) ?? []))),
      runs.onDidBegin((root) => this.begun(root)),
      questions.onDidChange(({ rootRunId }) => this.pageOf(rootRunId)?.panel.refresh()),
      onRestored(NAME, (panel, kept: Kept | undefined) => this.restore(panel, kept)),
    ];
  }

  /** `actions` are what its readers can do beyond reading. */
  use(actions: Actions): void {
    this.actions = actions;
  }

  /** While `work` goes on, the next run that begins and `fits` is one that the user of this window wants to see. */
  async following<Result>(work: () => Promise<Result>, fits: Order['fits'], origin?: Origin): Promise<Result> {
    const order = { fits, origin };
    this.expected.add(order);
    try {
      return await work();
    } finally {
      this.expected.delete(order);
    }
  }

  /** Opens a past run, or one that goes on, in front. */
  async show(node: Node): Promise<void> {
    const root = await this.runs.store.find(runOf(node).rootRunId);
    if (!root) {
      return;
    }
    const page = this.pageOf(root.runId);
    if (page) {
      page.panel.reveal();
    } else {
      this.open(await this.conversationOf(root), newPanel(NAME, titleOf(root), ViewColumn.Active, false));
    }
  }

  /** Whether the user has the page of a root run in front of them. */
  isInSight(rootRunId: string): boolean {
    return window.state.focused && this.pageOf(rootRunId)?.panel.isVisible === true;
  }

  dispose(): void {
    clearInterval(this.pulse);
    this.subscriptions.forEach((each) => each.dispose());
    this.pages.forEach(({ panel }) => panel.dispose());
  }

  /** Nobody tells of a run that another process executes, or did until a moment ago. */
  private beat(): void {
    for (const { telling, panel } of this.pages) {
      if (panel.isVisible) {
        void this.runs.store.look(telling.newest).catch(() => undefined); // It will be asked again.
      }
    }
  }

  /**
   * A reply stands in the page of its conversation. What the user has started opens a page, in place of one that is the active
   * editor. The focus stays, unless it was in that page.
   */
  private begun(root: RunNode): void {
    const former = [...this.pages].find(({ telling }) => telling.newest.runId === root.continues);
    const order = [...this.expected].find(({ fits }) => fits(root));
    former?.telling.add(root);
    if (order) {
      this.expected.delete(order);
      order.origin?.onBegin();
    }
    if (former) {
      former.panel.refresh();
    } else if (this.pageOf(root.runId)) {
      this.pageOf(root.runId)?.panel.refresh();
    } else if (order) {
      const active = [...this.pages].find(({ panel }) => panel.isActive)?.panel;
      this.open({ shared: [], runs: [root] }, newPanel(NAME, titleOf(root), active?.column ?? ViewColumn.Beside, !active?.hasFocus));
      void this.prepend(root);
    }
  }

  /** The runs before one that was begun elsewhere stand above it. */
  private async prepend(root: RunNode): Promise<void> {
    const page = this.pageOf(root.runId);
    const conversation = await this.conversationOf(root);
    if (page && conversation.runs.length + conversation.shared.length > 1) {
      page.telling.show(conversation);
      page.panel.refresh();
    }
  }

  private conversationOf(root: RunNode): Promise<Conversation> {
    const find = (runId: string) => this.runs.store.find(runId).catch(() => undefined); // It may be forgotten by now.
    return conversationOf(root, find, MOST);
  }

  private async restore(panel: WebviewPanel, kept: Kept | undefined): Promise<void> {
    await this.start();
    const root = kept && (await this.runs.store.find(kept.runId).catch(() => undefined));
    if (root && !this.pageOf(root.runId)) {
      this.open(await this.conversationOf(root), panel);
    } else {
      panel.dispose();
    }
  }

  private open(conversation: Conversation, webview: WebviewPanel): void {
    const telling = new Telling(conversation, this.edits);
    const subject = {
      name: NAME,
      title: titleOf(telling.newest),
      begin: () => {
        telling.forget();
        telling.runs.forEach((run) => this.edits.look(run));
      },
      state: () => telling.state(this.questionsOf(telling)),
      receive: (wish: Wish) => void this.obey(page, wish).catch(reportFailure),
    };
    const page: Page = { telling, panel: new Panel(this.extension, subject, () => this.pages.delete(page), webview) };
    this.pages.add(page);
  }

  private pageOf(rootRunId: string): Page | undefined {
    return [...this.pages].find(({ telling }) => telling.runs.some(({ runId }) => runId === rootRunId));
  }

  private refresh(nodes: readonly Node[]): void {
    for (const { telling, panel } of this.pages) {
      const ours = nodes.filter((node) => telling.runs.some(({ runId }) => runId === runOf(node).rootRunId));
      if (ours.length > 0) {
        telling.note(ours);
        const changing = new Set(ours.filter(mayHaveEdited).map((node) => rootOf(runOf(node))));
        changing.forEach((root) => this.edits.look(root));
        panel.refresh();
      }
    }
  }

  private questionsOf({ runs }: Telling): QuestionView[] {
    const open = this.questions.all().filter(({ question }) => runs.some(({ runId }) => runId === question.rootRunId));
    const asking = ({ question }: OpenQuestion) => this.runs.store.run(question.rootRunId, question.runId);
    return open.map((asked) => questionView(asked, this.keyOf(asked), asking(asked), Date.now()));
  }

  private keyOf(asked: OpenQuestion): number {
    let key = this.keys.get(asked);
    if (key === undefined) {
      this.keys.set(asked, (key = this.lastKey += 1));
    }
    return key;
  }

  /** A page keeps the text of a reply until its run has begun; it may fail before. Then the page is free for the next one. */
  private async goOn({ telling, panel }: Page, send: (origin: Origin) => Promise<void>, onBegin: () => void = () => undefined): Promise<void> {
    let isOnItsWay = true;
    const arrive = () => {
      if (isOnItsWay) {
        telling.isReplying = isOnItsWay = false;
        panel.refresh();
      }
    };
    telling.isReplying = true;
    panel.refresh();
    try {
      await send({
        onBegin: () => {
          onBegin();
          arrive();
        },
      });
    } finally {
      arrive();
    }
  }

  private async obey(page: Page, wish: Wish): Promise<void> {
    const { runs, shared } = page.telling;
    const actions = this.actions;
    if (!actions) {
      return;
    }
    switch (wish.do) {
      case 'answer': {
        const asked = this.questions.all().find((each) => this.keyOf(each) === wish.key);
        return asked && actions.answer(asked, wish.choice, wish.text);
      }
      case 'link':
        return openLink(wish.target, runs.map((run) => run.workspace).filter(Boolean), page.panel.column);
      case 'copyCode':
        return env.clipboard.writeText(wish.text);
      default: {
        const roots = [...runs, ...shared.map(({ run: root }) => root)];
        const run = roots.map((root) => this.runs.store.run(root.runId, wish.runId)).find(Boolean);
        if (!run) {
          return;
        }
        if (wish.do === 'copy') {
          const turn = wish.turn === undefined ? run.turns.at(-1) : run.turns.find(({ number }) => number === wish.turn);
          return env.clipboard.writeText(turn?.text ?? '');
        }
        if (wish.do === 'reply') {
          return this.goOn(page, (origin) => actions.reply(run, wish.text, origin));
        }
        if (wish.do === 'send') {
          return this.goOn(page, async () => actions.send(run, wish.text, wish.mode).then(() => void (page.telling.accepted = wish.key)));
        }
        if (wish.do === 'change') {
          return actions.change(run, wish.messageId, wish.change);
        }
        if (wish.do === 'edit') {
          return this.goOn(page, (origin) => actions.edit(run, wish.text, origin), () => (page.telling.edited = wish.key));
        }
        if (wish.do === 'review' || wish.do === 'undo') {
          return actions[wish.do]({ run, turn: wish.turn, file: wish.file });
        }
        if (wish.do === 'setKey') {
          return setKeyFor(run);
        }
        if (wish.do === 'retry') {
          return actions.retry(run, wish.turn);
        }
        return wish.do === 'continue' ? this.goOn(page, (origin) => actions.continue(run, origin)) : actions[wish.do](run);
      }
    }
  }
}

/** Asks for the key of the provider if the error of the run does not name a variable. */
async function setKeyFor(run: RunNode): Promise<void> {
  const key = remediesOf(run)?.key;
  const isOf = (name: string) => key !== undefined && 'provider' in key && name.toLowerCase() === key.provider.toLowerCase();
  const variable = key && 'variable' in key ? key.variable : Object.entries(KEY_VARIABLES).find(([name]) => isOf(name))?.[1];
  await commands.executeCommand('axeLsp.setApiKey', variable);
}

function titleOf(root: RunNode): string {
  const fork = root.forkedFrom ? 'fork of ' : '';
  return root.task ? `${root.agent}: ${fork}${shortened(root.task, TITLE)}` : root.agent;
}
