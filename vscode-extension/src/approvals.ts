// Asks the user before an agent changes something, and what models want to know. Nothing here takes the focus or has a default that Enter would choose, so
// nobody answers who is typing something else: a message with buttons, the row of the run in the view "Runs", the title of the editor that shows what is
// asked, and the status bar.

import { commands, StatusBarAlignment, ThemeColor, window, type Disposable, type Memento, type QuickPickItem } from 'vscode';
import { State, type CancellationToken, type LanguageClient } from 'vscode-languageclient/node';
import { announcing } from './announcing';
import { cancelledWith } from './cancelling';
import { ANSWER, answerInquiry, NO_ANSWER, SHOW, showInquiry } from './inquiries';
import { showInformation, showWarning } from './messages';
import { OpenApproval, OpenInquiry, OpenQuestions, type OpenQuestion } from './openQuestions';
import type { Previews } from './previews';
import { ApproveRequest, AskRequest, type Approval, type Inquiry, type Question, type Reply } from './protocol';
import { QuestionDocuments } from './questionDocuments';
import { alwaysOf, fitsMessage, forRunLabel, isEdit, messageOf, subjectOf, withoutIcons } from './questions';

const REMEMBERED = 'approvals';
const ALLOWED: Approval = { decision: 'allow' };
const DENIED: Approval = { decision: 'deny' };

/** Milliseconds after which VS Code has put a message away that nobody has touched. */
const MESSAGE_STAYS = 20_000;

const ALLOW = 'Allow';
const FOR_RUN = 'Allow the Same for This Run';
const ALL_EDITS = 'Allow All Edits of This Run';
const DENY = 'Deny';
const INSTEAD = 'Deny and Say Why…';
const ALWAYS = 'Always';
const MORE = 'More…';

/** In the menu of a row that asks. */
const ROW_COMMANDS = {
  'axeLsp.showQuestion': SHOW,
  'axeLsp.allow': ALLOW,
  'axeLsp.allowForRun': FOR_RUN,
  'axeLsp.allowAlways': ALWAYS,
  'axeLsp.deny': DENY,
  'axeLsp.denyAndSayWhy': INSTEAD,
  'axeLsp.answerInquiry': ANSWER,
  'axeLsp.dismissInquiry': NO_ANSWER,
};

/** In the title of the editor that shows what is asked. */
const TITLE_COMMANDS = {
  'axeLsp.allowShown': ALLOW,
  'axeLsp.denyShown': DENY,
  'axeLsp.moreForShown': MORE,
  'axeLsp.answerShown': ANSWER,
  'axeLsp.dismissShown': NO_ANSWER,
};

export class Approvals implements Disposable {
  readonly questions = new OpenQuestions();
  /** Whether the user sees a question somewhere already, so that no message has to tell of it. */
  isInSight = (_: OpenQuestion): boolean => false;
  private readonly status = window.createStatusBarItem('axeLsp.questions', StatusBarAlignment.Left);
  /** The root runs whose changes of files need no answer any more. */
  private readonly edited = new Set<string>();
  /** One message at a time: the document behind it is about the same question. */
  private lastMessage: Promise<unknown> = Promise.resolve();
  private readonly documents: QuestionDocuments;

  /** `memory` is the workspace's: what is always allowed in it is nobody else's business. */
  constructor(
    private readonly memory: Memento,
    previews: Previews,
  ) {
    this.documents = new QuestionDocuments(previews);
    this.status.name = 'Questions of axe agents';
    this.status.command = 'axeLsp.answerQuestion';
    this.status.backgroundColor = new ThemeColor('statusBarItem.warningBackground');
    this.questions.onDidChange(() => this.count());
  }

  listenTo(client: LanguageClient): void {
    client.registerFeature(announcing({ approve: true, ask: true }));
    client.onRequest(ApproveRequest, (question, token) => this.approve(question, token));
    client.onRequest(AskRequest, (inquiry, token) => this.ask(inquiry, token));
    client.onDidChangeState(({ newState }) => {
      if (newState === State.Stopped) {
        this.questions.all().forEach((asked) => asked.giveUp()); // Nobody waits for an answer any more.
      }
    });
  }

  /** `questionOf` tells which question stands in a row of the view "Runs". */
  register(questionOf: (row: unknown) => OpenQuestion | undefined): Disposable[] {
    const onRows = Object.entries(ROW_COMMANDS).map(([name, choice]) =>
      commands.registerCommand(name, (row: unknown) => this.act(questionOf(row), choice)),
    );
    const inTitles = Object.entries(TITLE_COMMANDS).map(([name, choice]) =>
      commands.registerCommand(name, (document: unknown) => this.act(this.documents.questionIn(document), choice)),
    );
    return [
      ...onRows,
      ...inTitles,
      ...this.documents.register(),
      commands.registerCommand('axeLsp.answerQuestion', () => this.answerOne()),
      commands.registerCommand('axeLsp.forgetApprovals', () => this.forget()),
    ];
  }

  /** Ask again, also about what was always allowed in this workspace. */
  private async forget(): Promise<void> {
    await this.memory.update(REMEMBERED, undefined);
    this.edited.clear();
    void showInformation('Saved approvals in this workspace were reset. Agents ask again.');
  }

  /** Lets the user choose a question, and the answer. */
  private async answerOne(): Promise<void> {
    const open = this.questions.all();
    const items = open.map((asked) => ({ asked, label: asked.question.agent, detail: withoutIcons(messageOf(asked.question)) }));
    if (items.length === 0) {
      void showInformation('No agent asks anything.');
      return;
    }
    const chosen = items.length === 1 ? items[0] : await window.showQuickPick(items, { placeHolder: 'Which question?' });
    if (chosen?.asked.kind === 'approval') {
      await this.choose(chosen.asked);
    } else if (chosen) {
      await answerInquiry(chosen.asked);
    }
  }

  /** Remembered for the workspace, and an answer to all that is asked about the same. */
  private async allowAlways({ question }: OpenApproval): Promise<void> {
    const subject = subjectOf(question);
    if (subject === undefined) {
      void showInformation('This cannot be allowed for good: allow it once.');
      return;
    }
    await this.memory.update(REMEMBERED, [...this.remembered(), subject]);
    const open = this.questions.all().filter((each) => each.kind === 'approval');
    open.filter((each) => subjectOf(each.question) === subject).forEach((each) => each.settle(ALLOWED));
  }

  /** Changes of files by any agent of the run, protected places excepted; also an answer to those that are asked about already. */
  private allowEdits({ question }: OpenApproval): void {
    if (!isEdit(question)) {
      void showInformation('Only edits of files outside of protected places can be allowed for the run: allow it once.');
      return;
    }
    this.edited.add(question.rootRunId);
    const open = this.questions.all().filter((each) => each.kind === 'approval');
    open.filter((each) => each.question.rootRunId === question.rootRunId && isEdit(each.question)).forEach((each) => each.settle(ALLOWED));
  }

  /** A protected place is asked about each time: its question has no subject. */
  private allowForRun(asked: OpenApproval): void {
    if (subjectOf(asked.question) === undefined) {
      void showInformation('A change of a protected place is asked about each time: allow it once, or add a rule to axe.tools.allow.');
      return;
    }
    asked.settle({ decision: 'allowForRun' });
  }

  private async denyAndSayWhy(asked: OpenApproval): Promise<void> {
    const box = { title: asked.question.reason, prompt: 'Tell the agent what to do instead' };
    const note = await cancelledWith(asked.answer, (token) => window.showInputBox(box, token));
    asked.settle(note ? { ...DENIED, note } : DENIED);
  }

  dispose(): void {
    this.questions.dispose();
    this.status.dispose();
  }

  private async approve(question: Question, token: CancellationToken): Promise<Approval> {
    if (token.isCancellationRequested) {
      return DENIED; // Nobody waits for it any more.
    }
    const subject = subjectOf(question);
    const isAllowed = isEdit(question) && this.edited.has(question.rootRunId);
    if (isAllowed || (subject !== undefined && this.remembered().includes(subject))) {
      return ALLOWED;
    }
    const asked = new OpenApproval(question);
    this.open(asked, token);
    return asked.answer;
  }

  private async ask(inquiry: Inquiry, token: CancellationToken): Promise<Reply | null> {
    const asked = new OpenInquiry(inquiry);
    if (!token.isCancellationRequested) {
      this.open(asked, token);
    } else {
      asked.giveUp();
    }
    return asked.answer;
  }

  private open(asked: OpenQuestion, token: CancellationToken): void {
    this.questions.add(asked);
    token.onCancellationRequested(() => asked.giveUp());
    this.lastMessage = this.lastMessage.then(() => this.tell(asked)).catch(() => undefined);
  }

  /** Ends when the next message may come: after an answer, or when this one was closed or put away. */
  private async tell(asked: OpenQuestion): Promise<void> {
    if (!asked.isOpen || this.isInSight(asked)) {
      return;
    }
    if (!fitsMessage(asked.question)) {
      await this.documents.show(asked, false);
    }
    if (!asked.isOpen) {
      return; // A message would stay.
    }
    const message = this.showMessage(asked);
    const isPutAway = new Promise((resolve) => setTimeout(resolve, MESSAGE_STAYS));
    await Promise.race([message, asked.answer, isPutAway]);
  }

  /** A message that is closed is no answer. Its first button, which VS Code can press by a key, is none either. */
  private async showMessage(asked: OpenQuestion): Promise<void> {
    let isThere = true;
    void Promise.resolve<unknown>(asked.answer).then(() => isThere && commands.executeCommand('notifications.hideToasts')); // Nobody else can take it away.
    const chosen = await (asked.kind === 'inquiry' ? showInquiry(asked) : showApproval(asked));
    isThere = false;
    if (chosen === SHOW) {
      await this.documents.show(asked, false); // A key of VS Code presses it, maybe while somebody types.
    } else if (chosen) {
      await this.act(asked, chosen);
    }
    if (chosen && asked.isOpen) {
      await this.showMessage(asked); // VS Code closes a message whose button was pressed.
    }
  }

  private async choose(asked: OpenApproval): Promise<void> {
    const { question } = asked;
    const items: (QuickPickItem & { choice: string })[] = [SHOW, DENY, INSTEAD, ALLOW].map((choice) => ({ choice, label: choice }));
    if (subjectOf(question) !== undefined) {
      items.push({ choice: FOR_RUN, label: forRunLabel(question) });
    }
    if (isEdit(question)) {
      items.push({ choice: ALL_EDITS, label: ALL_EDITS });
    }
    const always = alwaysOf(question);
    if (always) {
      items.push({ choice: ALWAYS, ...always });
    }
    const options = { title: question.reason, placeHolder: messageOf(question) };
    const chosen = await cancelledWith(asked.answer, (token) => window.showQuickPick(items, options, token));
    if (chosen) {
      await this.act(asked, chosen.choice);
    }
  }

  /** Gives the answer of that name to a question, which a person has pressed elsewhere; `text` is what a model gets to know. */
  async answer(asked: OpenQuestion, choice: string, text?: string): Promise<void> {
    if (asked.kind === 'inquiry' && text !== undefined) {
      asked.settle({ answer: text });
    } else {
      await this.act(asked, choice);
    }
  }

  /** Without a question the row was drawn anew in the moment in which it was pressed. */
  private async act(asked: OpenQuestion | undefined, choice: string): Promise<void> {
    if (!asked?.isOpen) {
      void showInformation('The list of questions changed a moment ago, so nothing was answered.');
      return;
    }
    if (choice === SHOW) {
      return this.documents.show(asked, true);
    }
    await (asked.kind === 'inquiry' ? this.reply(asked, choice) : this.decide(asked, choice));
  }

  private async reply(asked: OpenInquiry, choice: string): Promise<void> {
    switch (choice) {
      case ANSWER:
        return answerInquiry(asked);
      case NO_ANSWER:
        return asked.giveUp();
    }
  }

  private async decide(asked: OpenApproval, choice: string): Promise<void> {
    switch (choice) {
      case MORE:
        return this.choose(asked);
      case ALLOW:
        return asked.settle(ALLOWED);
      case FOR_RUN:
        return this.allowForRun(asked);
      case ALL_EDITS:
        return this.allowEdits(asked);
      case DENY:
        return asked.settle(DENIED);
      case INSTEAD:
        return this.denyAndSayWhy(asked);
      case ALWAYS:
        return this.allowAlways(asked);
    }
  }

  private count(): void {
    const open = this.questions.all();
    const agents = [...new Set(open.map(({ question }) => question.agent))];
    this.status.text = `$(question) ${open.length === 1 ? 'An agent asks' : `Agents ask ${open.length} things`}`;
    this.status.tooltip = `${agents.join(', ')}: click to answer`;
    if (open.length > 0) {
      this.status.show();
    } else {
      this.status.hide();
    }
    void commands.executeCommand('setContext', 'axeLsp.asked', open.length > 0);
  }

  private remembered(): readonly string[] {
    return this.memory.get<string[]>(REMEMBERED, []);
  }
}

/** The choice of the button that was pressed, if any. There is room for four short ones; VS Code would cut them. */
function showApproval({ question }: OpenApproval): Thenable<string | undefined> {
  return showWarning(messageOf(question), SHOW, ALLOW, DENY, MORE);
}
