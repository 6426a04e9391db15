// What agents ask, each in a document of its own, whose editor has the answers in its title.

import { TabInputText, TabInputTextDiff, Uri, window, workspace, type Disposable } from 'vscode';
import { TIME_TO_READ, type OpenQuestion } from './openQuestions';
import type { Previews } from './previews';
import { changeOf, documentName, documentText } from './questions';

/** The menus tell by them what can be answered. */
const SCHEMES = { approval: 'axe-approval', inquiry: 'axe-inquiry' } as const;

interface Shown {
  readonly asked: OpenQuestion;
  readonly uri: Uri;
  /** When it came to where it stands. */
  since: number;
}

export class QuestionDocuments {
  private readonly shown = new Set<Shown>();
  private last = 0;

  constructor(private readonly previews: Previews) {}

  /** Nobody waits for an answer to what was open when the window was loaded anew. */
  register(): Disposable[] {
    const schemes: readonly string[] = Object.values(SCHEMES);
    const tabs = window.tabGroups.all.flatMap((group) => group.tabs);
    void window.tabGroups.close(
      tabs.filter(({ input }) => schemes.includes(documentIn(input)?.scheme ?? '')),
      true,
    );
    return schemes.map((scheme) => workspace.registerTextDocumentContentProvider(scheme, this.previews));
  }

  /** Shows the file before and after, the whole command or question, until it is answered. Who is typing goes on typing, unless they want to see it. */
  async show(asked: OpenQuestion, isWanted: boolean): Promise<void> {
    const { question, kind, answer } = asked;
    const change = kind === 'approval' ? changeOf(question) : undefined;
    const title = change ? `${question.agent} wants to change ${change.path}` : documentName(question);
    const known = [...this.shown].find((each) => each.asked === asked);
    const shown = known ?? { asked, uri: Uri.from({ scheme: SCHEMES[kind], path: title, query: String((this.last += 1)) }), since: Date.now() };
    this.shown.add(shown);
    const close = change
      ? await this.previews.showChangeBeside(shown.uri, title, change.before, change.after, isWanted)
      : await this.previews.showBeside(shown.uri, documentText(question), isWanted);
    void Promise.resolve<unknown>(answer).then(async () => {
      this.shown.delete(shown);
      this.restart();
      await close();
      this.restart();
    });
  }

  /** Another one may come to the place of one that is closed: the second click on "Allow" is not for it. */
  private restart(): void {
    this.shown.forEach((shown) => (shown.since = Date.now()));
  }

  /** The question in the editor whose title was pressed; none if it has only just come. */
  questionIn(document: unknown): OpenQuestion | undefined {
    const name = document instanceof Uri ? document.toString() : undefined;
    const shown = [...this.shown].find(({ uri }) => uri.toString() === name);
    return shown && Date.now() - shown.since >= TIME_TO_READ ? shown.asked : undefined;
  }
}

function documentIn(input: unknown): Uri | undefined {
  return input instanceof TabInputText ? input.uri : input instanceof TabInputTextDiff ? input.modified : undefined;
}
