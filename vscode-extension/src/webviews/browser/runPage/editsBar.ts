// What a run or a turn has changed in files: how much, and buttons to review and to undo it, of a run also for each file.

import type { EditsView, FileEdits, Lines } from '../../../runs/editsInWords';
import { element } from '../elements';
import { tell } from '../host';
import type { Folds } from './folds';
import { button } from './parts';

/** Files that are listed from the beginning. */
const MOST_OPEN = 5;

/** Whose changes they are; `whose` names it to screen readers. */
interface Owner {
  readonly runId: string;
  readonly turn?: number;
  readonly whose: string;
}

/** The bar below a turn: one line. */
export class TurnEditsBar {
  readonly top = element('p', { class: 'edits turn-edits' });
  private readonly latest = new Latest();

  constructor(private readonly owner: Owner) {}

  draw(edits: EditsView | undefined): void {
    this.top.hidden = !edits;
    if (edits && this.latest.isOther(edits)) {
      this.top.replaceChildren(sizeOf(edits.summary, edits), ...remarks(edits), ...tools(this.owner, edits));
    }
  }
}

/** The bar below a run: its files fold out. */
export class RunEditsBar {
  private readonly size = element('summary', {});
  private readonly list = element('ul', {});
  private readonly details = element('details', {}, this.size, this.list);
  private readonly remarks = element('p', { class: 'quiet' });
  private readonly tools = element('div', { class: 'toolbar' });
  readonly top: HTMLElement;
  private readonly latest = new Latest();

  constructor(
    private readonly owner: Owner,
    private readonly folds: Folds,
  ) {
    this.top = element('section', { class: 'edits run-edits', 'aria-label': `Changed files: ${owner.whose}` }, this.details, this.tools, this.remarks);
    this.folds.follow(this.details, this.id, true);
  }

  draw(edits: EditsView | undefined): void {
    this.top.hidden = !edits;
    if (!edits || !this.latest.isOther(edits)) {
      return;
    }
    const hadFocus = this.top.contains(document.activeElement);
    this.size.replaceChildren(sizeOf(edits.summary, edits));
    this.list.replaceChildren(...edits.files.map((file) => this.row(file)));
    this.remarks.textContent = edits.remarks.join(' ');
    this.remarks.hidden = edits.remarks.length === 0;
    this.tools.replaceChildren(...tools(this.owner, edits));
    this.details.hidden = edits.summary === '';
    this.folds.draw(this.details, this.id, edits.files.length <= MOST_OPEN);
    if (hadFocus && !this.top.contains(document.activeElement)) {
      this.size.focus();
    }
  }

  private get id(): string {
    return `${this.owner.runId}/edits`;
  }

  private row(file: FileEdits): HTMLElement {
    const name = file.isThere ? element('a', { role: 'link', tabindex: '0', 'data-target': file.path }, file.path) : element('span', {}, file.path);
    const owner = { ...this.owner, file: file.file, whose: file.path };
    return element('li', {}, element('code', {}, name), ' ', sizeOf('', file), element('span', { class: 'quiet' }, file.remark), ' ', ...tools(owner, file));
  }
}

/** What was drawn last. */
class Latest {
  private json = '';

  /** Whether what is to be drawn now is something else. */
  isOther(edits: EditsView): boolean {
    const former = this.json;
    this.json = JSON.stringify(edits);
    return this.json !== former;
  }
}

function sizeOf(summary: string, { added, removed }: Lines): HTMLElement {
  const parts = [element('span', {}, summary), element('span', { class: 'lines-added' }, added), element('span', { class: 'lines-removed' }, removed)];
  return element('span', { class: 'size' }, ...parts.filter((part) => part.textContent).flatMap((part) => [part, ' ']));
}

function remarks({ remarks: all }: EditsView): HTMLElement[] {
  return all.map((remark) => element('span', { class: 'quiet' }, remark));
}

function tools({ whose, ...of }: Owner & { readonly file?: string }, { canReview, canUndo }: Pick<EditsView, 'canReview' | 'canUndo'>): HTMLElement[] {
  return [
    ...(canReview ? [button('Review', () => tell({ do: 'review', ...of }), `Review changes: ${whose}`)] : []),
    ...(canUndo ? [button('Undo', () => tell({ do: 'undo', ...of }), `Undo changes: ${whose}`)] : []),
  ];
}
