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
      this.end();
    } else if (this.current && !this.form?.isConnected) {
      this.show(this.current);
    }
    if (this.send) {
      this.send.disabled = isOnItsWay;
    }
  }

  private begin(edit: Edit): void {
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
      this.current = { ...edit, text: box.value };
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
    } else if (event.key === 'Escape') {
      event.preventDefault();
      this.cancel();
    }
  }

  private tell(): void {
    const text = this.current?.text.trim();
    if (text && this.send && !this.send.disabled) {
      this.send.disabled = true;
      tell({ do: 'edit', runId: this.current?.runId, text, key: this.current?.key });
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
