// What changes agents as a whole: new ones, other names, and their end.

import { Position, Uri, window, workspace, WorkspaceEdit } from 'vscode';
import { ExecuteCommandRequest, RenameRequest, type LanguageClient } from 'vscode-languageclient/node';
import { askWithWarning } from '../messages';
import type { Catalogue } from './catalogue';
import { objection } from './names';
import { positionOfName } from './places';
import { FoldersRequest, type AgentFolder } from './protocol';
import { agentName, targetFile } from './target';

export class AgentEditing {
  constructor(private readonly catalogue: Catalogue) {}

  async create(client: LanguageClient): Promise<void> {
    const folders = await client.sendRequest(FoldersRequest);
    const names = folders.map(({ uri }) => this.namesIn(uri));
    const name = await this.askName('New agent', names[0]?.filter((each) => names.every((others) => others.includes(each))) ?? []);
    const folder = name && (await pickFolder(folders, (at) => !names[at]?.includes(name)));
    if (folder && name) {
      await createAgent(client, { name, folder: folder.uri });
    }
  }

  /** The server puts it into the list of the agent that it is made for. */
  async createSubAgent(client: LanguageClient, given: unknown): Promise<void> {
    const file = targetFile(given);
    const name = file && (await this.askName(`New sub-agent of ${agentName(file)}`, this.namesIn(folderOf(file))));
    if (file && name) {
      await createAgent(client, { name, uri: client.code2ProtocolConverter.asUri(file), list: true });
    }
  }

  /** Through the server, which changes everybody who names the agent too, or says why that can't be. */
  async rename(client: LanguageClient, given: unknown): Promise<void> {
    const file = targetFile(given);
    const old = file && agentName(file);
    const name = file && (await this.askName(`Rename ${old}`, this.namesIn(folderOf(file)).filter((each) => each !== old), old));
    if (!file || !name || name === old) {
      return;
    }
    const edit = await renaming(client, file, name);
    if (!edit || !(await workspace.applyEdit(edit, { isRefactoring: true }))) {
      throw new Error(`${old} was not renamed: VS Code could not change all files that name it.`);
    }
  }

  async delete(given: unknown): Promise<void> {
    const file = targetFile(given);
    if (!file) {
      return;
    }
    const name = agentName(file);
    const callers = this.catalogue.callersOf(file.toString());
    const detail = callers.length > 0 ? `It is called by ${callers.join(', ')}, which will no longer find it. ` : 'No other agent calls it. ';
    const question = { modal: true, detail: `${detail}The file goes to the trash, where there is one.` };
    if ((await askWithWarning(`Delete the agent ${name}?`, question, 'Delete')) === undefined) {
      return;
    }
    const edit = new WorkspaceEdit(); // Which also closes the file, saved or not, and can be undone.
    edit.deleteFile(file);
    if (!(await workspace.applyEdit(edit))) {
      throw new Error(`${name} was not deleted: VS Code could not remove ${file.fsPath}.`);
    }
  }

  private namesIn(folder: string): string[] {
    const files = this.catalogue.agents.flatMap(({ uri }) => (uri === null ? [] : [Uri.parse(uri)]));
    return files.filter((file) => folderOf(file) === Uri.parse(folder).toString()).map(agentName);
  }

  private askName(title: string, taken: readonly string[], value = ''): Thenable<string | undefined> {
    const prompt = 'The name of the agent and of its file.';
    return window.showInputBox({ title, prompt, value, validateInput: (name) => objection(name, taken) });
  }
}

/** Asked for without VS Code's own command, which would put the move of the file before the changes of texts. */
async function renaming(client: LanguageClient, file: Uri, newName: string): Promise<WorkspaceEdit | undefined> {
  const { asUri, asPosition } = client.code2ProtocolConverter;
  const position = asPosition((await positionOfName(file)) ?? new Position(0, 0));
  const edit = await client.sendRequest(RenameRequest.type, { textDocument: { uri: asUri(file) }, position, newName });
  return client.protocol2CodeConverter.asWorkspaceEdit(edit);
}

async function createAgent(client: LanguageClient, argument: object): Promise<void> {
  await client.sendRequest(ExecuteCommandRequest.type, { command: 'axe.createAgent', arguments: [argument] });
}

/** Asks if there are several folders, of which those that are `free` have no agent of the name. */
async function pickFolder(folders: readonly AgentFolder[], free: (at: number) => boolean): Promise<AgentFolder | undefined> {
  if (folders.length <= 1) {
    return folders[0];
  }
  const items = folders.filter((_, at) => free(at)).map((folder) => ({
    folder,
    label: workspace.asRelativePath(Uri.parse(folder.uri), true),
    description: folder.scope === 'user' ? 'for you, in all projects' : folder.exists ? '' : 'will be made',
  }));
  return (await window.showQuickPick(items, { placeHolder: 'In which folder?' }))?.folder;
}

function folderOf(file: Uri): string {
  return Uri.joinPath(file, '..').toString();
}
