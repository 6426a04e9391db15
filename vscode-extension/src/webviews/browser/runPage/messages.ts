// Messages to a run that works: the keys of its box, and the messages that wait as chips.

import type { MessageMode } from '../../../protocol';
import type { QueuedMessage } from '../../../runs/nodes';
import { shortened } from '../../../runs/figures';
import { element } from '../elements';
import { tell } from '../host';
import { button } from './parts';

/** Characters of a message in its chip. */
const CHIP = 80;

const MODES: Record<MessageMode, string> = { next: '', after: 'at the end', now: 'now' };

/** The mode in which a key sends what is written; none for a key that does not send. */
export function modeOf(event: KeyboardEvent): MessageMode | undefined {
  if (event.key !== 'Enter' || event.isComposing) {
    return undefined;
  }
  if (event.ctrlKey || event.metaKey) {
    return event.shiftKey ? 'now' : undefined;
  }
  return event.altKey ? 'after' : event.shiftKey ? undefined : 'next';
}

export const KEYS = 'Enter sends, Alt+Enter sends for the end of the run, Ctrl+Shift+Enter breaks off what it does, Shift+Enter begins a new line.';

/** A text stays in its box until the run has accepted it; one that was changed meanwhile stays for good. */
export class Sending {
  private key: number | undefined;
  private sent = '';

  constructor(private readonly box: HTMLTextAreaElement) {}

  send(runId: string, mode: MessageMode): void {
    const text = this.box.value.trim();
    if (text) {
      this.sent = this.box.value;
      this.key = Math.random();
      tell({ do: 'send', runId, text, mode, key: this.key });
    }
  }

  /** `accepted` is the key of the last message that a run has accepted. */
  draw(accepted: number | undefined): void {
    if (this.key !== undefined && this.key === accepted) {
      this.key = undefined;
      if (this.box.value === this.sent) {
        this.box.value = '';
      }
    }
  }
}

/** The messages that wait for one run. A chip whose text is being changed is not drawn anew. */
export class Queue {
  readonly top = element('ul', { class: 'queue', 'aria-label': 'Messages that wait' });
  private readonly chips = new Map<string, { readonly chip: HTMLElement; readonly drawn: string }>();

  constructor(private readonly runId: () => string) {}

  draw(messages: readonly QueuedMessage[]): void {
    const waiting = new Set(messages.map(({ messageId }) => messageId));
    for (const [id, { chip }] of this.chips) {
      if (!waiting.has(id)) {
        chip.remove();
        this.chips.delete(id);
      }
    }
    messages.forEach((message) => this.drawOne(message));
    this.top.hidden = messages.length === 0;
  }

  private drawOne(message: QueuedMessage): void {
    const known = this.chips.get(message.messageId);
    const drawn = JSON.stringify(message);
    if (known?.drawn === drawn) {
      return;
    }
    const chip = known?.chip ?? element('li', { class: 'chip' });
    this.chips.set(message.messageId, { chip, drawn });
    if (!known) {
      this.top.append(chip);
    }
    if (!chip.querySelector('input')) {
      this.fill(chip, message);
    }
  }

  private fill(chip: HTMLElement, message: QueuedMessage): void {
    const { messageId, mode, text, from } = message;
    const about = shortened(text, CHIP);
    const change = (what: object) => tell({ do: 'change', runId: this.runId(), messageId, change: what });
    const words = element('span', { class: 'words', title: text }, about);
    const marks = [from === 'person' ? '' : `from ${from}`, MODES[mode]].filter(Boolean).join(', ');
    const tools =
      mode === 'now'
        ? [] // It is being given.
        : [
            button('Edit', () => this.edit(chip, message, (changed) => change({ text: changed })), `Edit message: ${about}`),
            button('Send Now', () => change({ mode: 'now' }), `Send now: ${about}`),
            button('Remove', () => change({ text: null }), `Remove message: ${about}`),
          ];
    chip.replaceChildren(...(marks ? [element('span', { class: 'quiet' }, marks)] : []), words, ...tools);
  }

  private edit(chip: HTMLElement, message: QueuedMessage, save: (text: string) => void): void {
    const box = element('input', { type: 'text', 'aria-label': 'Text of the message' });
    box.value = message.text;
    const end = () => {
      this.fill(chip, message);
      chip.querySelector('button')?.focus();
    };
    const accept = () => {
      const text = box.value.trim();
      end();
      if (text && text !== message.text) {
        save(text);
      }
    };
    box.addEventListener('keydown', (event) => {
      if ((event.key === 'Enter' || event.key === 'Escape') && !event.isComposing) {
        event.preventDefault();
        (event.key === 'Enter' ? accept : end)();
      }
    });
    chip.replaceChildren(box, button('Save', accept), button('Cancel', end));
    box.focus();
  }
}
