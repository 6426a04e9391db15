// The questions of agents that nobody has answered yet. They are shown in several places, and answered once.

import { EventEmitter, type Disposable } from 'vscode';
import type { Approval, Question } from './protocol';

export class OpenQuestion {
  /** The answer, once there is one. */
  readonly answer: Promise<Approval>;
  private resolve: (answer: Approval) => void = () => undefined;
  private settled = false;

  constructor(readonly question: Question) {
    this.answer = new Promise((resolve) => (this.resolve = resolve));
  }

  get isOpen(): boolean {
    return !this.settled;
  }

  /** Only the first answer counts. */
  settle(answer: Approval): void {
    this.settled = true;
    this.resolve(answer);
  }
}

export class OpenQuestions implements Disposable {
  private readonly open = new Set<OpenQuestion>();
  private readonly changed = new EventEmitter<Question>();
  /** A question was asked, or is no longer open. */
  readonly onDidChange = this.changed.event;

  add(question: Question): OpenQuestion {
    const asked = new OpenQuestion(question);
    this.open.add(asked);
    this.changed.fire(question);
    void asked.answer.then(() => {
      this.open.delete(asked);
      this.changed.fire(question);
    });
    return asked;
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
