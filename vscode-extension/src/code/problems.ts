// The problems of a text, once they are known to be about it. TypeScript is asked for them; it publishes nothing about
// documents in no tab, and nothing when a text without problems stays so. All others publish.

import { commands, DiagnosticSeverity, languages, workspace, type CancellationToken, type Diagnostic, type Disposable, type TextDocument, type Uri } from 'vscode';
import type { CodeItem } from '../protocol';
import { CheckedTexts } from './checkedTexts';
import { digestOf } from './words';

export type Problems = readonly CodeItem[] | 'unknown' | 'unserved';

const SEVERITIES = {
  [DiagnosticSeverity.Error]: 'error',
  [DiagnosticSeverity.Warning]: 'warning',
  [DiagnosticSeverity.Information]: 'information',
  [DiagnosticSeverity.Hint]: 'hint',
} as const;

const OF_TYPESCRIPT = new Set(['typescript', 'typescriptreact', 'javascript', 'javascriptreact']);
const TYPESCRIPT_MS = 500;

export class TextProblems {
  private readonly texts = new CheckedTexts();
  /** Languages with a publication in this window, and those of which none came in time. */
  private readonly served = new Set<string>();
  private readonly unserved = new Set<string>();

  register(): Disposable[] {
    return [
      workspace.onDidOpenTextDocument(({ uri }) => this.texts.didChange(uri.toString())),
      workspace.onDidChangeTextDocument(({ document, contentChanges }) => contentChanges.length && this.texts.didChange(document.uri.toString())),
      languages.onDidChangeDiagnostics(({ uris }) => uris.forEach((uri) => this.published(uri))),
    ];
  }

  /** The problems of the text that a document has now, within `ms`. */
  async of(document: TextDocument, ms: number, token: CancellationToken): Promise<Problems> {
    const version = document.version;
    const pulled = OF_TYPESCRIPT.has(document.languageId) ? await ofTypeScript(document, Math.max(ms, TYPESCRIPT_MS), token) : undefined;
    const problems = pulled ?? (await this.publishedOf(document, ms));
    return document.version === version ? problems : 'unknown';
  }

  /** Waits until TypeScript has read the project of a document: until then it answers from single files. */
  async loaded(document: TextDocument, ms: number, token: CancellationToken): Promise<void> {
    if (OF_TYPESCRIPT.has(document.languageId)) {
      await ofTypeScript(document, ms, token);
    }
  }

  private async publishedOf(document: TextDocument, ms: number): Promise<Problems> {
    const language = document.languageId;
    if (this.unserved.has(language)) {
      return 'unserved';
    }
    if (await this.texts.settled(document.uri.toString(), ms)) {
      return languages.getDiagnostics(document.uri).map((each) => itemOf(document.uri, each));
    }
    if (ms > 0 && !this.served.has(language)) {
      this.unserved.add(language);
    }
    return 'unknown';
  }

  private published(uri: Uri): void {
    const language = workspace.textDocuments.find((each) => each.uri.toString() === uri.toString())?.languageId;
    if (language) {
      this.served.add(language);
      this.unserved.delete(language);
    }
    this.texts.didPublish(uri.toString());
  }
}

/** Waits until a document has the text with this digest, as after VS Code has read its file again. */
export function hasText(document: TextDocument, digest: string, ms: number): Promise<boolean> {
  const isIt = () => digestOf(document.getText()) === digest;
  if (isIt() || document.isDirty) {
    return Promise.resolve(isIt());
  }
  return new Promise((resolve) => {
    const end = (found: boolean) => {
      clearTimeout(timer);
      listener.dispose();
      resolve(found);
    };
    const listener = workspace.onDidChangeTextDocument((event) => event.document === document && isIt() && end(true));
    const timer = setTimeout(() => end(isIt()), ms);
  });
}

interface TypeScriptProblem {
  readonly start: { readonly line: number };
  readonly text: string;
  readonly code?: number;
  readonly category: string;
}

/** The problems that TypeScript finds in the text of a document; nothing if it can't be asked. */
async function ofTypeScript(document: TextDocument, ms: number, token: CancellationToken): Promise<Problems | undefined> {
  const ask = (command: string) =>
    commands.executeCommand<{ body?: readonly TypeScriptProblem[] } | undefined>('typescript.tsserverRequest', command, { file: document.uri }, {}, token);
  let timer: NodeJS.Timeout | undefined;
  try {
    const late = new Promise<'late'>((resolve) => (timer = setTimeout(() => resolve('late'), ms)));
    const answers = await Promise.race([late, Promise.all([ask('syntacticDiagnosticsSync'), ask('semanticDiagnosticsSync')])]);
    if (answers === 'late') {
      return 'unknown';
    }
    const bodies = answers.map((each) => each?.body);
    return bodies.every((body) => body !== undefined) ? bodies.flat().map((each) => typeScriptItem(document.uri, each)) : undefined;
  } catch {
    return undefined;
  } finally {
    clearTimeout(timer);
  }
}

function typeScriptItem(uri: Uri, { start, text, code, category }: TypeScriptProblem): CodeItem {
  const severity = category === 'error' || category === 'warning' ? category : 'hint';
  return { uri: uri.toString(), line: start.line, message: text, severity, source: `ts${code === undefined ? '' : ` ${code}`}` };
}

function itemOf(uri: Uri, { range, message, severity, source, code }: Diagnostic): CodeItem {
  const number = typeof code === 'object' ? code.value : code;
  const who = [source, number].filter((each) => each !== undefined && each !== '').join(' ');
  return { uri: uri.toString(), line: range.start.line + 1, message, severity: SEVERITIES[severity], ...(who ? { source: who } : {}) };
}
