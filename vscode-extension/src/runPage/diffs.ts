// How the lines of a change are marked. Knows nothing of VS Code.

const MARKS: Readonly<Record<string, Mark>> = { '+': 'added', '-': 'removed', '@': 'quiet' };

export type Mark = 'added' | 'removed' | 'quiet' | '';

/** The mark of each line; the names of the files, above the first place, are neither added nor removed. */
export function marksOf(lines: readonly string[]): readonly Mark[] {
  const first = lines.findIndex((line) => line.startsWith('@@'));
  return lines.map((line, at) => (at < first ? 'quiet' : (MARKS[line[0] ?? ''] ?? '')));
}
