// What is wrong with a file, as VS Code knows it from the server.

import { DiagnosticSeverity, languages, type Uri } from 'vscode';
import type { Problems } from './rows';

export function problemsOf(file: Uri): Problems {
  const found = languages.getDiagnostics(file).map(({ severity }) => severity);
  const count = (wanted: DiagnosticSeverity) => found.filter((severity) => severity === wanted).length;
  return { errors: count(DiagnosticSeverity.Error), warnings: count(DiagnosticSeverity.Warning) };
}
