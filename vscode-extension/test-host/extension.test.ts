// The extension inside VS Code, beside an extension for TOML and one for Python: tests/clients/vscode has both. The only
// server of this machine is in the environment that the Python extension has selected.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import {
  commands,
  extensions,
  languages,
  Range,
  Uri,
  window,
  workspace,
  type CodeLens,
  type Diagnostic,
  type Hover,
  type TextDocument,
} from 'vscode';
import { Panel } from '../src/webviews/panel';
import { closed, document, eventually, show } from './workspace';

const OURS = 'axe-lsp.axe-lsp';

describe('The extension', () => {
  it('is activated by an agent, and registers every command of its manifest', async () => {
    await show('axe/agents/lead.toml');
    const extension = extensions.getExtension(OURS);
    assert.ok(extension);
    await eventually('its activation', () => extension.isActive);
    const registered = new Set(await commands.getCommands(true));
    const declared = extension.packageJSON.contributes.commands.map((each: { command: string }) => each.command);
    assert.deepEqual(declared.filter((command: string) => !registered.has(command)), []);
  });

  it('finds the server in the Python environment that is selected', async () => {
    const lead = await show('axe/agents/lead.toml');
    await eventually('diagnostics', () => codes(lead).includes('unknown-agent'));
  });

  it('shows what a key means', async () => {
    const lead = await show('axe/agents/lead.toml');
    const position = lead.positionAt(lead.getText().indexOf('model'));
    const hovers = await commands.executeCommand<Hover[]>('vscode.executeHoverProvider', lead.uri, position);
    const said = hovers.flatMap(({ contents }) => contents).map((each) => (typeof each === 'string' ? each : each.value));
    assert.match(said.join('\n'), /provider/);
  });

  it('shows lenses that run the agent by a command that VS Code can not forget', async () => {
    const lead = await show('axe/agents/lead.toml');
    const lenses = await commands.executeCommand<CodeLens[]>('vscode.executeCodeLensProvider', lead.uri);
    const run = lenses.find(({ command }) => command?.title === 'Run')?.command;
    assert.ok(run);
    assert.equal(run.arguments, undefined);
    assert.ok((await commands.getCommands(true)).includes(run.command));
  });

  it('takes what is typed, and settings that change', async () => {
    const lead = await show('axe/agents/lead.toml');
    await replace(lead, lead.getText().replace('ghost', 'lint'));
    await eventually('no diagnostics', () => codes(lead).length === 0);
    await commands.executeCommand('undo');
    await eventually('diagnostics', () => codes(lead).includes('unknown-agent'));
    const settings = workspace.getConfiguration('axe');
    await settings.update('diagnostics', { 'unknown-agent': 'off' });
    await eventually('silence', () => codes(lead).length === 0);
    await settings.update('diagnostics', undefined);
    await eventually('diagnostics', () => codes(lead).includes('unknown-agent'));
  });

  it('starts the server anew on request', async () => {
    const lead = await show('axe/agents/lead.toml');
    await commands.executeCommand('axeLsp.restart');
    await eventually('diagnostics', () => codes(lead).includes('unknown-agent'));
  });
});

describe('Languages', () => {
  it('are given by the folder', async () => {
    assert.equal((await document('axe/agents/lead.toml')).languageId, 'axe-agent');
    assert.equal((await document('.axe/agents/hidden.toml')).languageId, 'axe-agent');
    assert.equal((await document('.config/axe/config.toml')).languageId, 'axe-config');
    assert.equal((await document('pyproject.toml')).languageId, 'toml');
  });

  it('are given by the folders of axe.agentPaths', async () => {
    const bot = await show('bots/plain.toml');
    await eventually('its language', () => languageOf(bot.uri) === 'axe-agent');
  });

  it('are given by what a file says, and the user has the last word', async () => {
    const { uri } = await show('elsewhere/helper.toml');
    await eventually('its language', () => languageOf(uri) === 'axe-agent');
    await eventually('diagnostics', () => codes({ uri }).includes('unknown-agent'));
    await languages.setTextDocumentLanguage(await workspace.openTextDocument(uri), 'toml');
    await closed(uri);
    await show('elsewhere/helper.toml');
    assert.equal(languageOf(uri), 'toml');
  });

  it('are left alone where the user wants no guesses', async () => {
    const settings = workspace.getConfiguration('axe');
    await settings.update('editor.recognizeAgents', false);
    const { uri } = await show('elsewhere/other.toml');
    await eventually('the other extension', () => sources(uri).includes('other-toml'));
    assert.equal(languageOf(uri), 'toml');
    await settings.update('editor.recognizeAgents', undefined);
  });
});

describe('Beside an extension for TOML', () => {
  it('nothing is reported twice', async () => {
    const broken = await show('axe/agents/broken.toml');
    await eventually('diagnostics', () => codes(broken).length > 0);
    const plain = await show('pyproject.toml');
    await eventually('the other extension', () => sources(plain.uri).length > 0);
    assert.deepEqual(sources(broken.uri), ['axe-lsp']);
    assert.deepEqual(sources(plain.uri), ['other-toml']);
  });

  it('agents are formatted by us, and other files by the other', async () => {
    const agent = await show('axe/agents/untidy.toml');
    await eventually('diagnostics', () => codes(agent).includes('unknown-agent')); // The server is there.
    await commands.executeCommand('editor.action.formatDocument');
    await eventually('our format', () => agent.getText().includes('name = "untidy"'));
    assert.ok(!agent.getText().includes('other-toml was here'));
    const plain = await show('pyproject.toml');
    await commands.executeCommand('editor.action.formatDocument');
    await eventually("the other's format", () => plain.getText().includes('other-toml was here'));
    await commands.executeCommand('undo');
  });
});

describe('Runs', () => {
  it('are not stopped by a row that was drawn anew while it was pressed', async () => {
    await show('axe/agents/lint.toml');
    const waiting = commands.executeCommand('axe.run', { agent: 'lint', task: 'Wait' });
    await commands.executeCommand('axe.run', { agent: 'lint', task: 'Work' });
    await commands.executeCommand('axeLsp.stopNode', undefined);
    await commands.executeCommand('axe.run', { agent: 'lint', task: 'Work' });
    assert.deepEqual(await commands.executeCommand('axe.stop'), { stopped: true }, 'it still waits');
    await Promise.allSettled([waiting]);
  });
});

describe('A page', () => {
  it('that is closed can be told and asked, as what was begun on it may end later', async () => {
    const extension = extensions.getExtension(OURS);
    assert.ok(extension);
    let isClosed = false;
    const subject = { name: 'runPage', title: 'A run', state: () => ({}), receive: () => undefined };
    const panel = new Panel(extension.extensionUri, subject, () => (isClosed = true));
    await eventually('the page', () => panel.isVisible && panel.isActive);
    await commands.executeCommand('workbench.action.closeActiveEditor');
    await eventually('its end', () => isClosed);
    panel.refresh();
    assert.deepEqual([panel.isVisible, panel.isActive, panel.hasFocus, panel.column], [false, false, false, undefined]);
  });
});

describe('The manifest', () => {
  it('has a picture or a text for every step of the walkthrough', async () => {
    const extension = extensions.getExtension(OURS);
    const steps = extension?.packageJSON.contributes.walkthroughs.flatMap((each: { steps: Step[] }) => each.steps);
    assert.ok(steps.length > 0);
    for (const { media } of steps as Step[]) {
      const files = [media.markdown, media.svg, typeof media.image === 'string' ? media.image : undefined];
      for (const file of files.filter((each) => each !== undefined)) {
        await readFile(Uri.joinPath(extension!.extensionUri, file).fsPath);
      }
    }
  });
});

interface Step {
  readonly media: { readonly markdown?: string; readonly svg?: string; readonly image?: string | object };
}

async function replace(target: TextDocument, text: string): Promise<void> {
  const whole = new Range(target.positionAt(0), target.positionAt(target.getText().length));
  assert.ok(await window.activeTextEditor?.edit((edit) => edit.replace(whole, text)));
}

function codes({ uri }: { readonly uri: Uri }): unknown[] {
  return languages.getDiagnostics(uri).map(code);
}

function code(diagnostic: Diagnostic): unknown {
  return typeof diagnostic.code === 'object' ? diagnostic.code.value : diagnostic.code;
}

function sources(uri: Uri): unknown[] {
  return [...new Set(languages.getDiagnostics(uri).map(({ source }) => source))];
}

function languageOf(uri: Uri): string | undefined {
  return workspace.textDocuments.find((each) => each.uri.toString() === uri.toString())?.languageId;
}
