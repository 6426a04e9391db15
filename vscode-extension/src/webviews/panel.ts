// A webview in an editor tab. Its page says that it is ready, also when it comes back after it was hidden, and is told its
// whole state then and whenever that changes. Knows nothing of what a page shows.

import { randomBytes } from 'node:crypto';
import { env, Uri, ViewColumn, window, type Disposable, type Webview, type WebviewPanel } from 'vscode';
import { page } from './page';

export interface Subject<State, Message> {
  /** Names the script `out/NAME.js` and the style `media/NAME.css`. */
  readonly name: string;
  readonly title: string;
  state(): State;
  /** The page knows nothing: it is new, or was hidden. */
  begin?(): void;
  /** What the page says of its subject, written by nobody else. */
  receive(message: Message): void;
}

/** Hands over the panels of that name that were open when the window was loaded anew, with what their pages have kept. */
export function onRestored<Kept>(name: string, restore: (panel: WebviewPanel, kept: Kept | undefined) => Promise<void>): Disposable {
  return window.registerWebviewPanelSerializer(viewType(name), { deserializeWebviewPanel: restore });
}

/** A panel for a page of that name, in front of the focus or beside it. */
export function newPanel(name: string, title: string, viewColumn = ViewColumn.Active, preserveFocus = false): WebviewPanel {
  return window.createWebviewPanel(viewType(name), title, { viewColumn, preserveFocus }, { enableFindWidget: true });
}

/** VS Code throws when a closed panel is asked anything; what was begun on its page may end later. */
export class Panel<State, Message> implements Disposable {
  private isClosed = false;
  private isInPage = false;

  /** `panel` is one that was open before; else it is a new one. */
  constructor(
    private readonly extension: Uri,
    private readonly subject: Subject<State, Message>,
    onClosed: () => void,
    private readonly panel = newPanel(subject.name, subject.title),
  ) {
    this.panel.title = subject.title;
    this.panel.webview.options = {
      enableScripts: true,
      localResourceRoots: [Uri.joinPath(extension, 'out'), Uri.joinPath(extension, 'media')],
    };
    this.panel.iconPath = Uri.joinPath(extension, 'icon.png');
    this.panel.onDidDispose(() => {
      this.isClosed = true;
      onClosed();
    });
    this.panel.webview.onDidReceiveMessage((message: Message | 'ready' | 'focus' | 'blur') => {
      if (message === 'ready') {
        subject.begin?.();
        this.refresh();
      } else if (message === 'focus' || message === 'blur') {
        this.isInPage = message === 'focus';
      } else {
        subject.receive(message);
      }
    });
    this.panel.webview.html = this.html(this.panel.webview);
  }

  /** A page that is hidden asks when it is shown again. */
  refresh(): void {
    if (this.isVisible) {
      void this.panel.webview.postMessage(this.subject.state());
    }
  }

  get isVisible(): boolean {
    return !this.isClosed && this.panel.visible;
  }

  /** Whether it is the active editor; the focus may be in a view or a terminal all the same. */
  get isActive(): boolean {
    return !this.isClosed && this.panel.active;
  }

  /** Whether what is typed goes to the page. A page that is hidden says nothing. */
  get hasFocus(): boolean {
    return this.isActive && this.isInPage;
  }

  get column(): ViewColumn | undefined {
    return this.isClosed ? undefined : this.panel.viewColumn;
  }

  reveal(): void {
    this.panel.reveal();
  }

  dispose(): void {
    this.panel.dispose();
  }

  private html(webview: Webview): string {
    const file = (...path: string[]) => webview.asWebviewUri(Uri.joinPath(this.extension, ...path)).toString();
    return page({
      title: this.subject.title,
      script: file('out', `${this.subject.name}.js`),
      styles: [file('media', 'page.css'), file('media', `${this.subject.name}.css`)],
      source: webview.cspSource,
      nonce: randomBytes(16).toString('base64'),
      language: env.language,
    });
  }
}

function viewType(name: string): string {
  return `axeLsp.${name}`;
}
