// The files that a run or a turn has changed, as its page shows them. Knows nothing of VS Code.

import type { EditedFile, LeftFile, RunEdits, TurnEdits } from '../protocol';
import { count, joined, whole } from './figures';
import type { Node } from './nodes';

/** Lines that were added and removed, each empty if there are none. */
export interface Lines {
  readonly added: string;
  readonly removed: string;
}

export interface FileEdits extends Lines {
  /** As the server names it. */
  readonly file: string;
  /** As a reader knows it. */
  readonly path: string;
  /** What is special about it. */
  readonly remark: string;
  /** Whether there is a file to open. */
  readonly isThere: boolean;
  readonly canReview: boolean;
  readonly canUndo: boolean;
}

export interface EditsView extends Lines {
  /** How many files; empty for none. */
  readonly summary: string;
  /** What is not known. */
  readonly remarks: readonly string[];
  readonly files: readonly FileEdits[];
  readonly canReview: boolean;
  readonly canUndo: boolean;
}

/** Tools after which the changed files may be others. */
const TOOLS: readonly string[] = ['write_file', 'edit_file', 'run_command'];

const BY_COMMANDS = 'Changes by commands are not known.';

/** Whether a file may have been changed as something became of `node`: of a call that has ended, its turn is named. */
export function mayHaveEdited(node: Node): boolean {
  if (node.kind === 'turn') {
    return node.calls.some(({ name, ended }) => ended !== undefined && TOOLS.includes(name));
  }
  return node.kind === 'run' && node.ended !== undefined;
}

/** What a run has changed; nothing if it can't have changed a file. `shown` is a path as a reader knows it. */
export function editsView(edits: RunEdits, shown: (path: string) => string): EditsView | undefined {
  if (edits.files.length === 0 && !edits.hasCommands) {
    return undefined;
  }
  const files = edits.files.map((file) => fileView(file, edits, shown));
  const valid = edits.files.filter(({ isUndone }) => !isUndone);
  const sum = (figure: 'added' | 'removed') => valid.reduce((sofar, file) => sofar + (file[figure] ?? 0), 0);
  const uncounted = valid.filter(({ added }) => added === undefined).length;
  const isPutBack = edits.files.length > 0 && valid.length === 0;
  return {
    summary: isPutBack ? `${count(edits.files.length, 'file')}, put back` : valid.length > 0 ? count(valid.length, 'file') : '',
    ...lines(sum('added'), sum('removed')),
    remarks: [...(uncounted > 0 ? [unknownLines(uncounted)] : []), ...(edits.hasCommands ? [BY_COMMANDS] : [])],
    files,
    canReview: files.some(({ canReview }) => canReview),
    canUndo: files.some(({ canUndo }) => canUndo),
  };
}

/** What a turn has changed; nothing if that is as before. */
export function turnView(turn: TurnEdits | undefined, isRunning: boolean): EditsView | undefined {
  if (!turn || turn.files === 0) {
    return undefined;
  }
  const { files, added, removed, uncounted } = turn;
  const remarks = uncounted > 0 ? [unknownLines(uncounted)] : [];
  return { summary: count(files, 'file'), ...lines(added, removed), remarks, files: [], canReview: true, canUndo: !isRunning };
}

function fileView(file: EditedFile, { left, isRunning }: RunEdits, shown: (path: string) => string): FileEdits {
  const reason = reasonFor(file, left);
  const isCounted = file.added !== undefined;
  const unknown = isCounted || file.isUndone ? '' : 'lines not known';
  const kind = file.kind === 'modified' ? '' : file.kind === 'added' ? 'new' : 'deleted';
  return {
    file: file.path,
    path: shown(file.path),
    ...(file.isUndone ? lines(0, 0) : lines(file.added ?? 0, file.removed ?? 0)),
    remark: joined([file.isUndone ? 'put back' : kind, unknown, reason && `undo leaves it: ${reason}`], ', '),
    isThere: file.kind !== 'deleted' && !(file.isUndone && file.kind === 'added'),
    canReview: isCounted,
    canUndo: !isRunning && !file.isUndone && reason === '',
  };
}

function reasonFor({ path, isUndone }: EditedFile, left: readonly LeftFile[]): string {
  return isUndone ? '' : (left.find((each) => each.path === path)?.reason ?? '');
}

function lines(added: number, removed: number): Lines {
  return { added: added > 0 ? `+${whole(added)}` : '', removed: removed > 0 ? `−${whole(removed)}` : '' };
}

function unknownLines(files: number): string {
  return `The lines of ${count(files, 'file')} are not known: too large, no text, or changed by others.`;
}
