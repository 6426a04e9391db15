// Whether a text looks like an agent file. Knows nothing of VS Code.

/** Longer files are no agents; nobody waits for them. */
const MOST_CHARACTERS = 200_000;

/** A model as agents name it, `provider/name`, among the keys that stand before the first table. */
const MODEL = /^\s*model\s*=\s*(["'])[a-z][\w-]*\/[^"'\n]+\1\s*(?:#.*)?$/m;

/** What else agents have. Files of other programs may have a model, too. */
const AGENT_KEY = /^\s*(?:system_prompt|sub_agents|skill)\s*=/m;

const AGENT_TABLE = /^\s*\[(?:sub_agents_config|tool_policy|isolation|task)[.\]]/m;

export function looksLikeAgent(text: string): boolean {
  if (text.length > MOST_CHARACTERS) {
    return false;
  }
  const topLevel = withoutStrings(text).split(/^\s*\[/m, 1)[0] ?? '';
  return MODEL.test(topLevel) && (AGENT_KEY.test(topLevel) || AGENT_TABLE.test(text));
}

/** What stands between `"""` is text, whatever it looks like. */
function withoutStrings(text: string): string {
  return text.replaceAll(/"""[^]*?(?:"""|$)|'''[^]*?(?:'''|$)/g, '""');
}
