// The tests of agents in VS Code's view "Testing": files with their cases, runs and recordings of them, and results in place.

import { CancellationError, CancellationTokenSource, commands, Location, Position, Range, TestMessage, TestRunProfileKind, TestRunRequest, tests, Uri, workspace, type CancellationToken, type Disposable, type TestController, type TestItem, type TestRun } from 'vscode';
import type { LanguageClient } from 'vscode-languageclient/node';
import { announcing } from '../announcing';
import type { Catalogue } from '../agents/catalogue';
import { isTests } from '../agentFiles';
import { showInformation } from '../messages';
import { uriOf, type Previews } from '../previews';
import { ReplaceRecordingRequest, TestRequest, TestResultNotification, TestsRequest, type RecordingChange, type TestFile, type TestResult } from './protocol';

/** What a menu knows the messages by that a run belongs to. */
const FAILURE = 'axeFailure';

/** Milliseconds for which changes of a file are collected. */
const PAUSE = 500;

/** What a profile adds to the request that runs tests. */
const PROFILES = { Run: {}, 'Run Live': { live: true }, Record: { record: true }, Update: { update: true } } as const;

type Options = (typeof PROFILES)[keyof typeof PROFILES];

const REPLACE = 'Replace';
const KEEP = 'Keep';

export class TestingView implements Disposable {
  /** Made with the first tests: VS Code shows its view as soon as there is one. */
  private made: TestController | undefined;
  private readonly subscriptions: readonly Disposable[];
  private timer: NodeJS.Timeout | undefined;
  private client: LanguageClient | undefined;
  /** The run of what did not pass, by the test. */
  private readonly runs = new Map<string, string>();
  /** The documents and folders on which the tests of a file depend, by the file. */
  private readonly reads = new Map<string, readonly string[]>();
  /** Those who wait for results of cases. */
  private readonly listeners = new Set<(result: TestResult) => void>();

  /** `running` is the server; agents that change tell that files were read. */
  constructor(
    private readonly running: () => Promise<LanguageClient | undefined>,
    catalogue: Catalogue,
    private readonly previews: Previews,
    showRun: (runId: string) => Promise<void>,
  ) {
    const watcher = workspace.createFileSystemWatcher('**/{axe,.axe}/tests/*.toml');
    const soon = () => this.refreshSoon();
    this.subscriptions = [
      watcher,
      watcher.onDidCreate(soon),
      watcher.onDidChange(soon),
      watcher.onDidDelete(soon),
      workspace.onDidChangeTextDocument(({ document }) => isTests(document) && soon()),
      catalogue.onDidChange(soon),
      commands.registerCommand('axeLsp.showTestRun', (given?: TestItem | { readonly test: TestItem }) => {
        const item = given && 'test' in given ? given.test : given;
        const runId = item && this.runs.get(idOf(item));
        return runId ? showRun(runId) : void showInformation('A run is kept of a case that did not pass. Run the case first.');
      }),
    ];
  }

  listenTo(client: LanguageClient): void {
    this.client = client;
    client.registerFeature(announcing({ replaceRecording: true, testResults: true }));
    client.onNotification(TestResultNotification, (result) => this.listeners.forEach((each) => each(result)));
    client.onRequest(ReplaceRecordingRequest, (change, token) => this.replaces(change, token));
  }

  /** Whether the user wants another recording, which is shown before. */
  private async replaces(change: RecordingChange, token: CancellationToken): Promise<{ replace: boolean }> {
    const title = `Recording of ${change.case}`;
    const close = await this.previews.showChangeBeside(uriOf(title), title, change.before, change.after);
    const cancelled = new Promise<undefined>((resolve) => token.onCancellationRequested(() => resolve(undefined)));
    const asked = showInformation(`Replace the recording of the case "${change.case}"?`, REPLACE, KEEP);
    const chosen = await Promise.race([asked, cancelled]);
    await close();
    return { replace: chosen === REPLACE };
  }

  dispose(): void {
    clearTimeout(this.timer);
    this.made?.dispose();
    this.subscriptions.forEach((each) => each.dispose());
  }

  private refreshSoon(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.refresh().catch(() => undefined), PAUSE); // A server that ends has no tests.
  }

  /** Does nothing without a server: one that crashed again and again must not start because a file has changed. */
  private async refresh(): Promise<void> {
    if (!this.client?.isRunning()) {
      return;
    }
    const files = await this.client.sendRequest(TestsRequest, {});
    this.reads.clear();
    files.forEach(({ uri, reads }) => this.reads.set(uri, reads));
    if (files.length > 0 || this.made) {
      const controller = (this.made ??= this.controller());
      controller.items.replace(files.map((file) => itemOf(controller, file)));
    }
  }

  private controller(): TestController {
    const controller = tests.createTestController('axeLsp.tests', 'Tests of agents');
    controller.refreshHandler = () => this.running().then(() => this.refresh());
    for (const [name, options] of Object.entries(PROFILES)) {
      const isReplay = name === 'Run';
      const handle = (request: TestRunRequest, token: CancellationToken) =>
        request.continuous ? this.runAfterSaves(controller, request, token) : this.run(controller, request, token, options);
      controller.createRunProfile(name, TestRunProfileKind.Run, handle, isReplay, undefined, isReplay);
    }
    return controller;
  }

  /** Until it is cancelled, runs those of the requested cases that depend on a document that is saved. */
  private runAfterSaves(controller: TestController, request: TestRunRequest, token: CancellationToken): void {
    let last = Promise.resolve();
    const wanted = request.include?.map(idOf);
    const excluded = new Set(request.exclude?.map(idOf));
    const isWanted = (item: TestItem): boolean =>
      !excluded.has(idOf(item)) && (!wanted || wanted.includes(idOf(item)) || (item.parent !== undefined && isWanted(item.parent)));
    const rerun = async (saved: string) => {
      await this.refresh();
      const files = itemsOf(controller.items).filter((file) => this.dependsOn(file.id, saved));
      const include = files.flatMap((file) => itemsOf(file.children)).filter(isWanted);
      if (include.length > 0 && !token.isCancellationRequested) {
        await this.run(controller, new TestRunRequest(include, undefined, request.profile, true), token, {});
      }
    };
    const saving = workspace.onDidSaveTextDocument(({ uri }) => {
      // One run after the other: the last one has seen all that was saved.
      last = last.then(() => rerun(uri.toString())).catch(() => undefined);
    });
    token.onCancellationRequested(() => saving.dispose());
  }

  private dependsOn(file: string, saved: string): boolean {
    return [file, ...(this.reads.get(file) ?? [])].map((each) => Uri.parse(each).toString()).some((each) => each === saved || (each.endsWith('/') && saved.startsWith(each)));
  }

  /** A file after the other: each is a process of its own, which runs its cases side by side. */
  private async run(controller: TestController, request: TestRunRequest, token: CancellationToken, options: Options): Promise<void> {
    const run = controller.createTestRun(request);
    const excluded = new Set(request.exclude);
    const wanted = (request.include ?? itemsOf(controller.items)).filter((each) => !excluded.has(each));
    const cases = wanted.flatMap((each) => (each.parent ? [each] : itemsOf(each.children))).filter((each) => !excluded.has(each));
    const either = new CancellationTokenSource();
    [token, run.token].forEach((each) => each.onCancellationRequested(() => either.cancel()));
    try {
      for (const file of new Set(cases.map((each) => each.parent))) {
        const ofFile = cases.filter((each) => each.parent === file);
        await this.runCases(run, new Map(ofFile.map((each) => [idOf(each), each])), either.token, options);
      }
    } finally {
      run.end();
      either.dispose();
    }
  }

  /** Cases of one file, by their ids. Each result is shown as soon as it is there. */
  private async runCases(run: TestRun, cases: ReadonlyMap<string, TestItem>, token: CancellationToken, options: Options): Promise<void> {
    const left = new Map(cases);
    const hear = (result: TestResult) => {
      const item = left.get(result.id);
      if (item && left.delete(result.id)) {
        this.runs.set(result.id, result.verdict === 'passed' ? '' : (result.runId ?? ''));
        tell(run, item, result);
      }
    };
    cases.forEach((each) => run.started(each));
    this.listeners.add(hear);
    try {
      const client = await this.running();
      if (!client || token.isCancellationRequested) {
        throw new CancellationError();
      }
      const { results } = await client.sendRequest(TestRequest, { ids: [...cases.keys()], ...options }, token);
      results.forEach(hear);
      left.forEach((each) => run.skipped(each));
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      left.forEach((each) => (token.isCancellationRequested ? run.skipped(each) : run.errored(each, new TestMessage(message))));
    } finally {
      this.listeners.delete(hear);
    }
  }
}

function itemOf(controller: TestController, { uri, cases }: TestFile): TestItem {
  const file = Uri.parse(uri);
  const item = controller.createTestItem(uri, workspace.asRelativePath(file).replace(/^.*\//, ''), file);
  for (const { name, range } of cases) {
    const child = controller.createTestItem(name, name, file);
    child.range = new Range(new Position(range.start.line, range.start.character), new Position(range.end.line, range.end.character));
    item.children.add(child);
  }
  return item;
}

/** The id of a case in the protocol; that of a file is its address. */
function idOf(item: TestItem): string {
  return item.parent ? `${item.parent.id}::${item.id}` : item.id;
}

function tell(run: TestRun, item: TestItem, result: TestResult): void {
  if (result.verdict === 'unfinished') {
    run.skipped(item);
    return;
  }
  run.appendOutput(`${[`${item.id}: ${result.verdict}`, ...result.failures.map(({ line, message }) => `  line ${line}: ${message}`)].join('\r\n')}\r\n`, undefined, item);
  const duration = result.seconds === undefined ? undefined : result.seconds * 1000;
  if (result.verdict === 'passed') {
    run.passed(item, duration);
    return;
  }
  const messages = result.failures.map(({ line, message }) => {
    const told = result.recorded !== undefined && result.sent !== undefined ? TestMessage.diff(message, result.recorded, result.sent) : new TestMessage(message);
    told.contextValue = FAILURE;
    if (item.uri) {
      told.location = new Location(item.uri, new Position(line - 1, 0));
    }
    return told;
  });
  const isFailure = result.verdict === 'failed' || result.verdict === 'stale';
  run[isFailure ? 'failed' : 'errored'](item, messages.length > 0 ? messages : new TestMessage(result.verdict), duration);
}

function itemsOf(collection: Iterable<[string, TestItem]>): TestItem[] {
  return [...collection].map(([, item]) => item);
}
