// Gives documents their language, agents above all, where the path alone does not.

import { languages, workspace, type Disposable, type TextDocument } from 'vscode';
import { isInAgentFolder } from './agentFiles';
import { looksLikeAgent } from './recognition';

export const AGENT = 'axe-agent';

/** The languages that this extension brings. */
export const LANGUAGES = [AGENT, 'axe-config'];

/** Each document once: a user who gives it another language than we did has the last word. */
export function recognizeAgents(): Disposable[] {
  const seen = new Set<string>();
  const look = (document: TextDocument): void => {
    const uri = document.uri.toString();
    if (!seen.has(uri) && isAgent(document)) {
      seen.add(uri);
      void languages.setTextDocumentLanguage(document, AGENT);
    }
  };
  workspace.textDocuments.forEach(look);
  return [
    workspace.onDidOpenTextDocument(look),
    workspace.onDidSaveTextDocument(look),
  ];
}

function isAgent(document: TextDocument): boolean {
  const isOurs = LANGUAGES.includes(document.languageId);
  if (isOurs || document.uri.scheme !== 'file' || !document.uri.path.endsWith('.toml')) {
    return false;
  }
  return isInAgentFolder(document) || (isWanted(document) && looksLikeAgent(document.getText()));
}

function isWanted(document: TextDocument): boolean {
  return workspace.getConfiguration('axe', document).get('editor.recognizeAgents', true);
}
