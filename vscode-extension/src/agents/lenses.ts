// What the server's code lenses may ask of VS Code: commands of ours, which the server is told that we have.

import { commands, Position, Uri, type Disposable, type Location } from 'vscode';
import type { StaticFeature } from 'vscode-languageclient/node';

const SHOW_REFERENCES = 'axe.showReferences';
const RUN_WITH_INPUT = 'axe.runWithInput';

export function clientCommands(): Disposable[] {
  return [
    commands.registerCommand(SHOW_REFERENCES, async (name: string, { line, character }: Position) => {
      const [uri, place] = [Uri.parse(name), new Position(line, character)];
      const found = await commands.executeCommand<Location[]>('vscode.executeReferenceProvider', uri, place);
      await commands.executeCommand('editor.action.showReferences', uri, place, found);
    }),
    commands.registerCommand(RUN_WITH_INPUT, ({ uri }: { uri: string }) =>
      commands.executeCommand('axeLsp.runWithInput', Uri.parse(uri)),
    ),
  ];
}

export const lensAnnouncement: StaticFeature = {
  fillClientCapabilities: (capabilities) => {
    const known = { commands: [SHOW_REFERENCES, RUN_WITH_INPUT] };
    capabilities.experimental = { ...(capabilities.experimental as object | undefined), commands: known };
  },
  initialize: () => undefined,
  getState: () => ({ kind: 'static' }),
  clear: () => undefined,
};
