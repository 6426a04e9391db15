// What the server says of tests of agents, and of their results. The names are the wire's.

import { NotificationType, RequestType, type Range } from 'vscode-languageclient/node';

export interface TestFile {
  readonly uri: string;
  readonly agent: string;
  readonly cases: readonly { readonly id: string; readonly name: string; readonly range: Range }[];
  /** The agents that the cases may run, the folder of their workspace, ending in a slash, and files that these agents name elsewhere. */
  readonly reads: readonly string[];
}

/** With `live` answers are real and not stored; with `record` they are stored first, with `update` also where there is a recording. */
interface TestParams {
  readonly ids: readonly string[];
  readonly live?: boolean;
  readonly record?: boolean;
  readonly update?: boolean;
}

/** Lines count from 1. */
export interface TestResult {
  readonly id: string;
  readonly name: string;
  readonly line: number;
  readonly verdict: 'passed' | 'failed' | 'stale' | 'missing' | 'provider' | 'unfinished';
  readonly failures: readonly { readonly line: number; readonly message: string }[];
  /** The run of the case, which the history has if it did not pass. */
  readonly runId?: string;
  /** With real answers only. */
  readonly seconds?: number;
  /** The two texts of a stale request that differ. */
  readonly recorded?: string;
  readonly sent?: string;
}

/** A recording that is there, and what would replace it. */
export interface RecordingChange {
  readonly uri: string;
  readonly case: string;
  readonly before: string;
  readonly after: string;
}

export const ReplaceRecordingRequest = new RequestType<RecordingChange, { readonly replace: boolean }, unknown>('axe/replaceRecording');
export const TestsRequest = new RequestType<Record<string, never>, TestFile[], unknown>('axe/tests');
/** A case that was made of a run. Lines count from 1. */
interface NewTest {
  readonly uri: string;
  readonly case: string;
  readonly line: number;
  readonly notes: readonly string[];
  readonly results: readonly TestResult[];
}

export const NewTestRequest = new RequestType<{ readonly runId: string }, NewTest, unknown>('axe/newTest');
export const TestResultNotification = new NotificationType<TestResult>('axe/testResult');
export const TestRequest = new RequestType<TestParams, { readonly results: readonly TestResult[] }, unknown>('axe/test');
