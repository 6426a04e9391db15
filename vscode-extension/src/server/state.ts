// What is known of the language server, and how it is told: in the language status, in messages, in the log. Knows
// nothing of VS Code.

import type { Server } from './programs';
import { MOST_CRASHES, WINDOW_MINUTES } from './restarts';

export type ServerState =
  | { readonly kind: 'searching' | 'stopped' }
  | { readonly kind: 'missing'; readonly tried: readonly string[] }
  | { readonly kind: 'starting' | 'crashed'; readonly server: Server }
  | { readonly kind: 'running'; readonly server: Server; readonly version: string; readonly isReading: boolean }
  | { readonly kind: 'failed'; readonly server: Server; readonly reason: string };

export interface Status {
  readonly text: string;
  readonly detail: string;
  readonly severity: 'information' | 'warning' | 'error';
  readonly busy: boolean;
  readonly command: { readonly title: string; readonly command: string };
}

const RESTART = { title: 'Restart', command: 'axeLsp.restart' };
const SHOW_LOG = { title: 'Show Log', command: 'axeLsp.showServerLog' };
const INSTALL = { title: 'Install', command: 'axeLsp.installServer' };

const MANAGE_TRUST = { title: 'Manage Trust', command: 'workbench.trust.manage' };

/** `own` is the extension's version. Where the workspace is not `trusted`, the server runs no agents. */
export function statusOf(state: ServerState, own: string, trusted = true): Status {
  switch (state.kind) {
    case 'searching':
      return quiet('axe-lsp', 'looking for the language server', SHOW_LOG, true);
    case 'stopped':
      return quiet('axe-lsp', 'stopped', RESTART);
    case 'starting':
      return quiet('axe-lsp', `starting, from ${state.server.source}`, SHOW_LOG, true);
    case 'running':
      return inTrust({ ...running(state.server, state.version, own, state.isReading), busy: state.isReading }, trusted);
    case 'missing':
      return loud('axe-lsp was not found', 'agents are neither checked nor run', INSTALL);
    case 'failed':
      return loud('axe-lsp did not start', `from ${state.server.source}: ${state.reason}`, SHOW_LOG);
    case 'crashed':
      return loud('axe-lsp crashed again and again', `from ${state.server.source}`, RESTART);
  }
}

/** Undefined when they fit, or where the server does not say what it is. */
export function mismatch(version: string, own: string): string | undefined {
  if (!version || series(version) === series(own)) {
    return undefined;
  }
  return (
    `The axe language server is version ${version}, this extension ${own}. ` +
    'Some things may not work until both have the same version.'
  );
}

/** For a person: where the server was looked for and what to do now. */
export function notFoundMessage(tried: readonly string[]): string {
  return `The axe language server was not found. Tried: ${tried.join('; ')}.`;
}

export function crashedMessage(server: Server): string {
  return (
    `The axe language server crashed ${MOST_CRASHES + 1} times in ${WINDOW_MINUTES} minutes ` +
    `and is not started again: ${server.command}. The log may say why.`
  );
}

export function failedMessage(server: Server, reason: string): string {
  return `The axe language server did not start: ${server.command} (from ${server.source}): ${reason}`;
}

function running(server: Server, version: string, own: string, isReading: boolean): Status {
  const text = version ? `axe-lsp ${version}` : 'axe-lsp';
  const detail = `${isReading ? 'reading agent files' : 'running'}, from ${server.source}`;
  if (mismatch(version, own) === undefined) {
    return quiet(text, detail, RESTART);
  }
  return { ...quiet(text, `${detail}; does not fit extension ${own}`, RESTART), severity: 'warning' };
}

function inTrust(status: Status, trusted: boolean): Status {
  const detail = `${status.detail}; agents do not run, because you have not trusted this workspace`;
  return trusted ? status : { ...status, detail, command: MANAGE_TRUST };
}

function quiet(text: string, detail: string, command: Status['command'], busy = false): Status {
  return { text, detail, severity: 'information', busy, command };
}

function loud(text: string, detail: string, command: Status['command']): Status {
  return { text, detail, severity: 'error', busy: false, command };
}

/** What changes when something may not fit any more. */
function series(version: string): string {
  return version.split('.').slice(0, 2).join('.');
}
