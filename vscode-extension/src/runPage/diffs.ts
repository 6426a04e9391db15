// How the lines of a change are marked. Knows nothing of VS Code.

const MARKS: Readonly<Record<string, Mark>> = { '+': 'added', '-': 'removed', '@': 'quiet' };

export type Mark = 'added' | 'removed' | 'quiet' | '';

/** The mark of each line; the names of the files, above the first place, are neither added nor removed. */
export function marksOf(lines: readonly string[]): readonly Mark[] {
  const first = lines.findIndex((line) => line.startsWith('@@'));
  return lines.map((line, at) => (at < first ? 'quiet' : (MARKS[line[0] ?? ''] ?? '')));
}

const HUNK = /^@@ -(?<before>\d+)(?:,\d+)? \+(?<after>\d+)/;

/** The numbers of each line in the file before and after, as wide as the widest; without places there are none. */
export function numbersOf(lines: readonly string[]): readonly string[] {
  let numbers: { before: number; after: number } | undefined;
  const pairs = lines.map((line): readonly [number | undefined, number | undefined] => {
    const place = HUNK.exec(line)?.groups;
    if (place) {
      numbers = { before: Number(place['before']), after: Number(place['after']) };
      return [undefined, undefined];
    }
    const before = numbers && line[0] !== '+' && line[0] !== '\\' ? numbers.before++ : undefined;
    const after = numbers && line[0] !== '-' && line[0] !== '\\' ? numbers.after++ : undefined;
    return [before, after];
  });
  const width = Math.max(...pairs.flat().map((number) => String(number ?? '').length));
  return numbers ? pairs.map((pair) => pair.map((number) => String(number ?? '').padStart(width)).join(' ')) : lines.map(() => '');
}
