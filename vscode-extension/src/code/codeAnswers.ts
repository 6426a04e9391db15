// Answers what tools of agents ask about code, from the language servers of this window.

import { setTimeout } from 'node:timers/promises';
import {
  commands,
  Position,
  Uri,
  SymbolKind,
  workspace,
  type CallHierarchyIncomingCall,
  type CallHierarchyItem,
  type CallHierarchyOutgoingCall,
  type CancellationToken,
  type Disposable,
  type DocumentSymbol,
  type Hover,
  type Location,
  type LocationLink,
  type MarkdownString,
  type Range,
  type SymbolInformation,
  type TextDocument,
} from 'vscode';
import type { LanguageClient } from 'vscode-languageclient/node';
import { announcing } from '../announcing';
import { EditorRequest, type CodeAnswer, type CodeItem, type CodeQuestion } from '../protocol';
import { hasText, TextProblems } from './problems';
import { columnOf, digestOf } from './words';

const MOST_ITEMS = 300;

/** For the language servers of a language that has not answered yet in this window: they may be starting. */
const START_MS = 8000;
const AGAIN_MS = 300;

export class CodeAnswers {
  private readonly problems = new TextProblems();
  /** Languages of which something was answered in this window. */
  private readonly started = new Set<string>();

  listenTo(client: LanguageClient): void {
    client.registerFeature(announcing({ editor: true }));
    client.onRequest(EditorRequest, (question, token) => this.answer(question, token));
  }

  register(): Disposable[] {
    return this.problems.register();
  }

  private async answer(question: CodeQuestion, token: CancellationToken): Promise<CodeAnswer> {
    if (question.uri === undefined) {
      return question.question === 'diagnostics' ? this.diagnosticsOfOpen(question, token) : limited(await symbolsOfWorkspace(question.name ?? ''));
    }
    const uri = Uri.parse(question.uri);
    if (!workspace.getWorkspaceFolder(uri)) {
      return { missing: 'folder' };
    }
    const document = await workspace.openTextDocument(uri);
    if (question.question === 'diagnostics') {
      return this.diagnosticsOf(document, question, token);
    }
    if (question.question === 'symbols') {
      return this.onceStarted(document, question, token, () => symbolsOf(document.uri));
    }
    const line = question.line ?? 0;
    const column = line >= 1 && line <= document.lineCount ? columnOf(document.lineAt(line - 1).text, question.name ?? '') : -1;
    const ask = () => at(question, document.uri, new Position(line - 1, column));
    return column < 0 ? { missing: 'name' } : this.onceStarted(document, question, token, ask);
  }

  /** The answer, asked for again while it is empty and the language servers may still be starting. */
  private async onceStarted(document: TextDocument, { timeoutMs }: CodeQuestion, token: CancellationToken, ask: () => Promise<readonly CodeItem[]>): Promise<CodeAnswer> {
    const deadline = Date.now() + Math.min(START_MS, timeoutMs);
    if (!this.started.has(document.languageId)) {
      await this.problems.loaded(document, Math.min(START_MS, timeoutMs), token);
    }
    let items = await ask();
    while (!items.length && !this.started.has(document.languageId) && Date.now() < deadline && !token.isCancellationRequested) {
      await setTimeout(AGAIN_MS);
      items = await ask();
    }
    this.started.add(document.languageId);
    return limited(items);
  }

  private async diagnosticsOf(document: TextDocument, question: CodeQuestion, token: CancellationToken): Promise<CodeAnswer> {
    const start = Date.now();
    if (question.digest && !(await hasText(document, question.digest, question.timeoutMs))) {
      return {};
    }
    const problems = await this.problems.of(document, Math.max(0, question.timeoutMs - (Date.now() - start)), token);
    if (problems === 'unserved') {
      return { missing: 'server' };
    }
    return problems === 'unknown' ? {} : { ...limited(problems), checked: { [document.uri.toString()]: digestOf(document.getText()) } };
  }

  /** The problems of the documents that are open. */
  private async diagnosticsOfOpen(question: CodeQuestion, token: CancellationToken): Promise<CodeAnswer> {
    const documents = workspace.textDocuments.filter(({ uri }) => uri.scheme === 'file' && workspace.getWorkspaceFolder(uri));
    const answers = await Promise.all(documents.map((document) => this.diagnosticsOf(document, question, token)));
    return { ...limited(answers.flatMap(({ items }) => items ?? [])), checked: Object.assign({}, ...answers.map(({ checked }) => checked)) };
  }
}

function limited(items: readonly CodeItem[]): CodeAnswer {
  return { items: items.slice(0, MOST_ITEMS), leftOut: Math.max(0, items.length - MOST_ITEMS) };
}

async function at({ question }: CodeQuestion, uri: Uri, position: Position): Promise<readonly CodeItem[]> {
  switch (question) {
    case 'definition':
      return places(await commands.executeCommand<readonly (Location | LocationLink)[]>('vscode.executeDefinitionProvider', uri, position));
    case 'references':
      return places(await commands.executeCommand<readonly Location[]>('vscode.executeReferenceProvider', uri, position));
    case 'hover':
      return ((await commands.executeCommand<readonly Hover[]>('vscode.executeHoverProvider', uri, position)) ?? []).map((hover) => ({ message: textOf(hover) }));
    default: {
      const items = (await commands.executeCommand<readonly CallHierarchyItem[]>('vscode.prepareCallHierarchy', uri, position)) ?? [];
      const calls = await Promise.all(items.map(question === 'incomingCalls' ? callers : called));
      return calls.flat();
    }
  }
}

async function callers(item: CallHierarchyItem): Promise<readonly CodeItem[]> {
  const calls = await commands.executeCommand<readonly CallHierarchyIncomingCall[]>('vscode.provideIncomingCalls', item);
  return (calls ?? []).flatMap(({ from, fromRanges }) => fromRanges.map((range) => ({ ...place(from.uri, range), name: from.name })));
}

async function called(item: CallHierarchyItem): Promise<readonly CodeItem[]> {
  const calls = await commands.executeCommand<readonly CallHierarchyOutgoingCall[]>('vscode.provideOutgoingCalls', item);
  return (calls ?? []).map(({ to }) => ({ ...place(to.uri, to.selectionRange), name: to.name }));
}

async function symbolsOf(uri: Uri): Promise<readonly CodeItem[]> {
  const symbols = (await commands.executeCommand<readonly (DocumentSymbol | SymbolInformation)[]>('vscode.executeDocumentSymbolProvider', uri)) ?? [];
  const flat = (symbol: DocumentSymbol | SymbolInformation): readonly CodeItem[] => [
    symbolItem(uri, symbol, 'selectionRange' in symbol ? symbol.selectionRange : symbol.location.range),
    ...('children' in symbol ? symbol.children.flatMap(flat) : []),
  ];
  return symbols.flatMap(flat);
}

async function symbolsOfWorkspace(query: string): Promise<readonly CodeItem[]> {
  const symbols = (await commands.executeCommand<readonly SymbolInformation[]>('vscode.executeWorkspaceSymbolProvider', query)) ?? [];
  return symbols.map((symbol) => symbolItem(symbol.location.uri, symbol, symbol.location.range));
}

function symbolItem(uri: Uri, { name, kind }: { name: string; kind: SymbolKind }, range: Range): CodeItem {
  return { ...place(uri, range), name, kind: SymbolKind[kind].toLowerCase() };
}

function places(found: readonly (Location | LocationLink)[] | undefined): readonly CodeItem[] {
  return (found ?? []).map((each) => ('targetUri' in each ? place(each.targetUri, each.targetSelectionRange ?? each.targetRange) : place(each.uri, each.range)));
}

/** A place, with its line if the file is open: the server reads that of other files itself. */
function place(uri: Uri, { start }: Range): CodeItem {
  const document = workspace.textDocuments.find((each) => each.uri.toString() === uri.toString());
  const text = document && start.line < document.lineCount ? document.lineAt(start.line).text.trim() : undefined;
  return { uri: uri.toString(), line: start.line + 1, ...(text === undefined ? {} : { text }) };
}

function textOf({ contents }: Hover): string {
  return contents.map((each) => (typeof each === 'string' ? each : (each as MarkdownString).value)).join('\n\n');
}
