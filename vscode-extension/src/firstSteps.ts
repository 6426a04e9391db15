// Ticks off the steps of the walkthrough that are done.
//
// VS Code ticks a step off when its context key becomes true, and never if the key was true before the walkthrough
// was opened in the window. So keys are true for a moment only, and what was done before is said again when a page is opened.

import { commands, window, workspace, type Disposable } from 'vscode';
import { AGENT } from './languages';

type Step = 'server' | 'agent' | 'run';

/** VS Code comes to know the steps of a walkthrough some time after it has opened it, and nobody is told when. */
const PAUSES_MS = [1000, 2000, 4000, 8000, 16_000, 32_000];

export class FirstSteps implements Disposable {
  private readonly done = new Set<Step>();
  private readonly listeners: readonly Disposable[];
  private timers: NodeJS.Timeout[] = [];

  constructor() {
    this.listeners = [
      window.onDidChangeActiveTextEditor(() => this.look()),
      workspace.onDidOpenTextDocument(() => this.look()),
      window.tabGroups.onDidChangeTabs(() => this.tellAgain()),
    ];
    this.look();
  }

  did(step: Step): void {
    if (!this.done.has(step)) {
      this.done.add(step);
      tell(step);
    }
  }

  dispose(): void {
    this.timers.forEach(clearTimeout);
    this.listeners.forEach((listener) => listener.dispose());
  }

  private look(): void {
    if (window.activeTextEditor?.document.languageId === AGENT) {
      this.did('agent');
    }
  }

  /** Pages of VS Code itself, such as a walkthrough, are tabs of which an extension learns nothing more. */
  private tellAgain(): void {
    if (window.tabGroups.activeTabGroup.activeTab?.input === undefined) {
      this.timers.forEach(clearTimeout);
      this.timers = PAUSES_MS.map((pause) => setTimeout(() => this.done.forEach(tell), pause));
    }
  }
}

function tell(step: Step): void {
  const key = `axeLsp.done.${step}`;
  void commands.executeCommand('setContext', key, true).then(() => commands.executeCommand('setContext', key, false));
}
