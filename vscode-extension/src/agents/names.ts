// What is wrong with the name of an agent, as the server would say. Knows nothing of VS Code.

/** Undefined for a name that will do; `taken` are the names that others have in the same place. */
export function objection(name: string, taken: readonly string[] = []): string | undefined {
  if (!name.trim()) {
    return 'An agent needs a name.';
  }
  if (/[/\\]|\.\./.test(name)) {
    return 'A name must not contain slashes, backslashes or “..”: it is the name of a file.';
  }
  if (name !== name.trim()) {
    return 'A name must not begin or end with white space.';
  }
  if (name.endsWith('.toml')) {
    return 'Leave out “.toml”: it is added to the file name.';
  }
  return taken.some((other) => other.toLowerCase() === name.toLowerCase()) ? `There is an agent “${name}” already.` : undefined;
}
