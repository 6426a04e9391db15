// API keys that the user gives to VS Code: kept in its secret storage, and handed to the language server in its environment,
// as keys of a shell are. From there only requests to their provider get them.

import { window, type QuickPickItem, type SecretStorage } from 'vscode';

const STORED = 'axeLsp.apiKeys';

/** The variables of the providers that need a key; those of the server's table. */
export const KEY_VARIABLES: Readonly<Record<string, string>> = {
  Anthropic: 'ANTHROPIC_API_KEY',
  OpenAI: 'OPENAI_API_KEY',
  Google: 'GEMINI_API_KEY',
  OpenRouter: 'OPENROUTER_API_KEY',
  MiniMax: 'MINIMAX_API_KEY',
  OpenCode: 'OPENCODE_API_KEY',
  Requesty: 'REQUESTY_API_KEY',
  AtlasCloud: 'ATLASCLOUD_API_KEY',
  EdenAI: 'EDENAI_API_KEY',
};

const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*$/;
const OTHER = 'Another Variable…';

export class ApiKeys {
  constructor(private readonly secrets: SecretStorage) {}

  /** The environment of this window with the keys that the user has stored, which come first. */
  async environment(): Promise<NodeJS.ProcessEnv> {
    return { ...process.env, ...(await this.stored()) };
  }

  /** Lets the user store, replace or remove a key; whether anything has changed. */
  async set(wanted?: string): Promise<boolean> {
    const keys = await this.stored();
    const variable = wanted ?? (await chooseVariable(keys));
    if (variable === undefined) {
      return false;
    }
    const isStored = variable in keys;
    const key = await window.showInputBox({
      title: `API Key: ${variable}`,
      prompt: isStored ? 'Replaces the stored key; leave it empty to remove that.' : 'Is kept in the secret storage of VS Code.',
      password: true,
      ignoreFocusOut: true,
    });
    if (key === undefined || (key.trim() === '' && !isStored)) {
      return false;
    }
    const { [variable]: _, ...others } = keys;
    await this.secrets.store(STORED, JSON.stringify(key.trim() === '' ? others : { ...others, [variable]: key.trim() }));
    return true;
  }

  private async stored(): Promise<Readonly<Record<string, string>>> {
    const text = await this.secrets.get(STORED);
    return text ? (JSON.parse(text) as Record<string, string>) : {};
  }
}

async function chooseVariable(keys: Readonly<Record<string, string>>): Promise<string | undefined> {
  const further = Object.keys(keys).filter((variable) => !Object.values(KEY_VARIABLES).includes(variable));
  const all = [...Object.entries(KEY_VARIABLES), ...further.map((variable) => [variable, variable] as const)];
  const items: (QuickPickItem & { variable?: string })[] = all.map(([label, variable]) => {
    const state = variable in keys ? ' · stored here' : process.env[variable] ? ' · set in the environment' : '';
    return { label, description: `${variable}${state}`, variable };
  });
  const chosen = await window.showQuickPick([...items, { label: OTHER }], { placeHolder: 'The key of which provider?', matchOnDescription: true });
  if (chosen?.label !== OTHER) {
    return chosen?.variable;
  }
  const name = await window.showInputBox({
    title: 'Name of the Variable',
    prompt: 'As config.toml or the documentation of the provider names it',
    validateInput: (text) => (VARIABLE.test(text) ? undefined : 'Letters, digits and _, no digit first'),
  });
  return name || undefined;
}
