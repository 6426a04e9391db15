// The tests of agents in VS Code's view "Testing": files with their cases, runs and recordings of them, and results in place.

import { CancellationError, commands, Location, Position, Range, TestMessage, TestRunProfileKind, tests, Uri, window, workspace, type CancellationToken, type Disposable, type TestController, type TestItem, type TestRun, type TestRunRequest } from 'vscode';
import type { LanguageClient } from 'vscode-languageclient/node';
import { announcing } from '../announcing';
import type { Catalogue } from '../agents/catalogue';
import { isTests } from '../agentFiles';
import type { Previews } from '../previews';
import { ReplaceRecordingRequest, TestRequest, TestsRequest, type RecordingChange, type TestFile, type TestResult } from './protocol';

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
  /** The run of what did not pass, by the test. */
  private readonly runs = new Map<string, string>();

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
        const runId = item && this.runs.get(keyOf(item));
        return runId ? showRun(runId) : void window.showInformationMessage('A run is kept of a case that did not pass. Run the case first.');
      }),
    ];
  }

  listenTo(client: LanguageClient): void {
    client.registerFeature(announcing({ replaceRecording: true }));
    client.onRequest(ReplaceRecordingRequest, (change, token) => this.replaces(change, token));
  }

  /** Whether the user wants another recording, which is shown before. */
  private async replaces(change: RecordingChange, token: CancellationToken): Promise<{ replace: boolean }> {
    const close = await this.previews.showChangeBeside(`Recording of ${change.case}`, change.before, change.after);
    const cancelled = new Promise<undefined>((resolve) => token.onCancellationRequested(() => resolve(undefined)));
    const asked = window.showInformationMessage(`Replace the recording of the case "${change.case}"?`, REPLACE, KEEP);
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

  private async refresh(): Promise<void> {
    const client = await this.running();
    const files = client ? await client.sendRequest(TestsRequest, {}) : [];
    if (files.length > 0 || this.made) {
      const controller = (this.made ??= this.controller());
      controller.items.replace(files.map((file) => itemOf(controller, file)));
    }
  }

  private controller(): TestController {
    const controller = tests.createTestController('axeLsp.tests', 'Tests of agents');
    controller.refreshHandler = () => this.refresh();
    for (const [name, options] of Object.entries(PROFILES)) {
      controller.createRunProfile(name, TestRunProfileKind.Run, (request, token) => this.run(controller, request, token, options), name === 'Run');
    }
    return controller;
  }

  /** A file or a case after the other: each is a process of its own, which runs its cases side by side. */
  private async run(controller: TestController, request: TestRunRequest, token: CancellationToken, options: Options): Promise<void> {
    const run = controller.createTestRun(request);
    const wanted = request.include ?? itemsOf(controller.items);
    const excluded = new Set(request.exclude);
    try {
      for (const item of wanted.filter((each) => !excluded.has(each))) {
        await this.runItem(run, item, excluded, token, options);
      }
    } finally {
      run.end();
    }
  }

  private async runItem(run: TestRun, item: TestItem, excluded: ReadonlySet<TestItem>, token: CancellationToken, options: Options): Promise<void> {
    const cases = (item.parent ? [item] : itemsOf(item.children)).filter((each) => !excluded.has(each));
    cases.forEach((each) => run.started(each));
    try {
      const client = await this.running();
      if (!client || token.isCancellationRequested) {
        throw new CancellationError();
      }
      const params = { uri: item.uri?.toString() ?? '', ...(item.parent ? { case: item.id } : {}), ...options };
      const { results } = await client.sendRequest(TestRequest, params, token);
      const byName = new Map(results.map((result) => [result.name, result]));
      for (const each of cases) {
        const result = byName.get(each.id);
        this.runs.set(keyOf(each), result && result.verdict !== 'passed' ? (result.runId ?? '') : '');
        tell(run, each, result);
      }
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      cases.forEach((each) => (token.isCancellationRequested ? run.skipped(each) : run.errored(each, new TestMessage(message))));
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

/** Names a test among those of all files. */
function keyOf(item: TestItem): string {
  return `${item.uri?.toString() ?? ''}::${item.id}`;
}

function tell(run: TestRun, item: TestItem, result: TestResult | undefined): void {
  if (!result || result.verdict === 'unfinished') {
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
    const told = new TestMessage(message);
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
