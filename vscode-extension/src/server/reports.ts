// Tells how the language server is: in the language status of agent files, and in messages with what can be done.

import {
  commands,
  languages,
  LanguageStatusSeverity,
  workspace,
  type Disposable,
  type ExtensionContext,
  type LanguageStatusItem,
} from 'vscode';
import { LANGUAGES } from '../languages';
import { showError, showWarning } from '../messages';
import { isFirstToTellOfEnd } from '../reportFailure';
import { crashedMessage, failedMessage, mismatch, notFoundMessage, statusOf, type ServerState } from './state';

const SEVERITIES = {
  information: LanguageStatusSeverity.Information,
  warning: LanguageStatusSeverity.Warning,
  error: LanguageStatusSeverity.Error,
};

const ACTIONS = {
  Install: 'axeLsp.installServer',
  'Choose Program': 'axeLsp.chooseServer',
  Restart: 'axeLsp.restart',
  'Show Log': 'axeLsp.showServerLog',
} as const;

type Action = keyof typeof ACTIONS;

/** It does not run, and starts only if somebody says so. */
const ENDED: ReadonlySet<ServerState['kind']> = new Set(['stopped', 'failed', 'crashed']);

export class Reports implements Disposable {
  private readonly item: LanguageStatusItem;
  private readonly own: string;
  /** A mismatch is told in a message once; the status goes on telling it. */
  private toldVersion = '';
  /** What is missing is told in a message once, and each time that the user has it looked for again. */
  private hasToldMissing = false;
  private isAsked = false;
  /** Whether a view says already that the server is missing, with the same buttons. */
  isInSight = (): boolean => false;

  constructor(context: ExtensionContext) {
    this.own = context.extension.packageJSON.version;
    this.item = languages.createLanguageStatusItem('axeLsp.server', LANGUAGES);
    this.item.name = 'axe language server';
  }

  show(state: ServerState): void {
    const status = statusOf(state, this.own, workspace.isTrusted);
    this.item.text = status.text;
    this.item.detail = status.detail;
    this.item.severity = SEVERITIES[status.severity];
    this.item.busy = status.busy;
    this.item.command = status.command;
    this.item.accessibilityInformation = { label: `${status.text}, ${status.detail}` };
    void commands.executeCommand('setContext', 'axeLsp.serverRunning', state.kind === 'running');
    if (state.kind !== 'searching') {
      void commands.executeCommand('setContext', 'axeLsp.serverMissing', state.kind === 'missing');
    }
    void commands.executeCommand('setContext', 'axeLsp.serverDown', ENDED.has(state.kind));
    this.tell(state);
  }

  /** The user has the server looked for again, and wants to hear of it. */
  tellAgain(): void {
    this.isAsked = true;
  }

  dispose(): void {
    this.item.dispose();
  }

  private tell(state: ServerState): void {
    switch (state.kind) {
      case 'missing':
        return this.tellMissing(state.tried);
      case 'failed':
        return offer(showError, failedMessage(state.server, state.reason), ['Show Log', 'Choose Program']);
      case 'crashed':
        isFirstToTellOfEnd(); // What was asked of it fails after this, which nobody need hear too.
        return offer(showError, crashedMessage(state.server), ['Restart', 'Show Log']);
      case 'running':
        this.hasToldMissing = this.isAsked = false;
        return this.tellMismatch(state.version);
    }
  }

  /** As a warning: VS Code puts that away by itself, while an error with buttons would outlast the installation. */
  private tellMissing(tried: readonly string[]): void {
    if (this.isAsked || !(this.hasToldMissing || this.isInSight())) {
      offer(showWarning, notFoundMessage(tried), ['Install', 'Choose Program']);
      this.hasToldMissing = true;
    }
    this.isAsked = false;
  }

  private tellMismatch(version: string): void {
    const sentence = mismatch(version, this.own);
    if (sentence !== undefined && this.toldVersion !== version) {
      this.toldVersion = version;
      offer(showWarning, sentence, ['Install', 'Choose Program']);
    }
  }
}

/** A message that nobody answers is closed at some time, and nothing happens. */
function offer(
  show: (message: string, ...actions: Action[]) => Thenable<Action | undefined>,
  message: string,
  actions: Action[],
): void {
  void show(message, ...actions).then((chosen) => chosen && commands.executeCommand(ACTIONS[chosen]));
}
