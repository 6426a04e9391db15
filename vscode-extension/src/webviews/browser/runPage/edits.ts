// The task of a conversation that its reader changes, to send it again. It stands in place of the former one until its run has
// begun, also when the page is hidden meanwhile.

import { element } from '../elements';
import { tell } from '../host';
import { button } from './parts';

export interface Edit {
  /** The run whose task it was. */
  readonly runId: string;
  readonly text: string;
  /** Tells it apart from others of the page. */
  readonly key: number;
  /** What was sent of it last; the reader may go on writing until the run has begun. */
  readonly sent?: string;
}

interface Place {
  readonly task: HTMLElement;
  readonly change: HTMLButtonElement;
}

/** One task at a time. */
export class Edits {
  private readonly places = new Map<string, Place>();
  private form: HTMLElement | undefined;
  private send: HTMLButtonElement | undefined;

  /** `onChange` keeps what `current` is. */
  constructor(
    public current: Edit | undefined,
    private readonly onChange: () => void,
  ) {}

  /** The button that lets the reader change the task of a root run. */
  buttonFor(runId: string, task: HTMLElement): HTMLButtonElement {
    const change = button('Edit', () => this.begin({ runId, text: task.textContent ?? '', key: Date.now() }), 'Edit this task');
    this.places.set(runId, { task, change });
    return change;
  }

  /** `begun` is the key of the last one whose run has begun; while one is on its way, none can be sent. */
  draw(begun: number | undefined, isOnItsWay: boolean): void {
    if (this.current && this.current.key === begun) {
      this.goOn(this.current);
    }
    if (this.current && !this.form?.isConnected) {
      this.show(this.current);
    }
    if (this.send) {
      this.send.disabled = isOnItsWay;
    }
  }

  /** What was written after it was sent is another task, and stays. */
  private goOn({ runId, text, sent }: Edit): void {
    if (text.trim() === sent) {
      this.end();
    } else {
      this.current = { runId, text, key: Date.now() };
      this.onChange();
    }
  }

  /** Leads to a task that is being changed already, whose text would be lost. */
  private begin(edit: Edit): void {
    if (this.form?.isConnected && this.current && this.current.text !== this.places.get(this.current.runId)?.task.textContent) {
      this.form.querySelector('textarea')?.focus();
      return;
    }
    this.end();
    this.show(edit)?.focus();
    this.onChange();
  }

  /** Gives the box, if the page has the run. */
  private show(edit: Edit): HTMLTextAreaElement | undefined {
    const place = this.places.get(edit.runId);
    if (!place) {
      return undefined;
    }
    const box = element('textarea', { 'aria-label': 'The task, to be sent again', rows: String(Math.min(12, edit.text.split('\n').length + 1)) });
    const send = button('Send Again', () => this.tell());
    const cancel = button('Cancel', () => this.cancel());
    const hint = element('span', { class: 'quiet' }, 'A new conversation shares what is above this task.');
    box.value = edit.text;
    box.addEventListener('input', () => {
      this.current = { ...(this.current ?? edit), text: box.value };
      this.onChange();
    });
    box.addEventListener('keydown', (event) => this.onKey(event));
    this.form = element('div', { class: 'edit' }, box, element('div', { class: 'toolbar' }, send, cancel, hint));
    this.send = send;
    this.current = edit;
    place.task.after(this.form);
    place.task.hidden = place.change.hidden = true;
    return box;
  }

  private onKey(event: KeyboardEvent): void {
    if (event.key === 'Enter' && !event.shiftKey && !event.isComposing) {
      event.preventDefault();
      this.tell();
    } else if (event.key === 'Escape' && !event.isComposing) {
      event.preventDefault();
      this.cancel();
    }
  }

  private tell(): void {
    const { current } = this;
    const text = current?.text.trim();
    if (current && text && this.send && !this.send.disabled) {
      this.send.disabled = true;
      this.current = { ...current, sent: text };
      this.onChange();
      tell({ do: 'edit', runId: current.runId, text, key: current.key });
    }
  }

  private cancel(): void {
    const place = this.places.get(this.current?.runId ?? '');
    this.end();
    place?.change.focus();
  }

  private end(): void {
    const place = this.places.get(this.current?.runId ?? '');
    this.form?.remove();
    this.form = this.send = this.current = undefined;
    if (place) {
      place.task.hidden = place.change.hidden = false;
    }
    this.onChange();
  }
}
