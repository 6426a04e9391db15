// Which API key is missing, by what the server says. Knows nothing of VS Code.

/** The variable that an error of the server says is missing. */
export function missingVariable(message: string): string | undefined {
  return /is not configured \(set ([A-Z][A-Z0-9_]*) /.exec(message)?.[1];
}
