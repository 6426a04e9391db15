// The questions of agents that nobody has answered yet. They are shown in several places, and answered once.

import { EventEmitter, type Disposable } from 'vscode';
import type { Approval, Inquiry, Question, Reply } from './protocol';

/** Milliseconds for which a question has stood somewhere before a click there can be meant for it. */
export const TIME_TO_READ = 500;

abstract class Open<Asked extends Question | Inquiry, Answer> {
  /** The answer, once there is one. */
  readonly answer: Promise<Answer>;
  /** When it is withdrawn, in milliseconds since 1970, if it is. */
  readonly ends: number | undefined;
  private resolve: (answer: Answer) => void = () => undefined;
  private settled = false;

  constructor(
    readonly question: Asked,
    private readonly none: Answer,
  ) {
    this.ends = question.timeoutMs === undefined ? undefined : Date.now() + question.timeoutMs;
    this.answer = new Promise((resolve) => (this.resolve = resolve));
  }

  get isOpen(): boolean {
    return !this.settled;
  }

  /** Only the first answer counts. */
  settle(answer: Answer): void {
    this.settled = true;
    this.resolve(answer);
  }

  /** Nobody answers, or nobody needs an answer any more. */
  giveUp(): void {
    this.settle(this.none);
  }
}

/** An agent wants to change something. */
export class OpenApproval extends Open<Question, Approval> {
  readonly kind = 'approval';

  constructor(question: Question) {
    super(question, { decision: 'deny' });
  }
}

/** A model wants to know something. */
export class OpenInquiry extends Open<Inquiry, Reply | null> {
  readonly kind = 'inquiry';

  constructor(question: Inquiry) {
    super(question, null);
  }
}

export type OpenQuestion = OpenApproval | OpenInquiry;

export class OpenQuestions implements Disposable {
  private readonly open = new Set<OpenQuestion>();
  private readonly changed = new EventEmitter<Question | Inquiry>();
  /** A question was asked, or is no longer open. */
  readonly onDidChange = this.changed.event;

  add(asked: OpenQuestion): void {
    this.open.add(asked);
    this.changed.fire(asked.question);
    void Promise.resolve<unknown>(asked.answer).then(() => {
      this.open.delete(asked);
      this.changed.fire(asked.question);
    });
  }

  /** The oldest comes first. */
  all(): readonly OpenQuestion[] {
    return [...this.open].filter((asked) => asked.isOpen);
  }

  ofRun(runId: string): readonly OpenQuestion[] {
    return this.all().filter(({ question }) => question.runId === runId);
  }

  dispose(): void {
    this.changed.dispose();
  }
}
