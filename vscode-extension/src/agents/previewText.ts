// What would be sent, as a document to read: how much of it there is, and then all of it. Knows nothing of VS Code.

import type { Preview, PromptPart } from './protocol';

const KINDS: Readonly<Record<PromptPart['kind'], string>> = {
  systemPrompt: 'System prompt',
  skill: 'Skill',
  file: 'File',
  memory: 'Memory',
  output: 'Instructions for [output]',
  userMessage: 'User message',
  tool: 'Tool',
};

export function previewText(agent: string, preview: Preview): string {
  const { model, workdir, subAgents, parts } = preview;
  const lines = [
    `# ${agent}: what would be sent`,
    '',
    `- Model: ${model}`,
    `- Working directory: ${workdir}`,
    ...(subAgents.length > 0 ? [`- Sub-agents: ${subAgents.join(', ')}`] : []),
    ...(preview.isolation ? [`- Isolation: ${preview.isolation}`] : []),
    `- In all about ${number(preview.estimatedTokens)} tokens${share(preview)}`,
    ...(preview.warnings ?? []).map((warning) => `- Warning: ${warning}`),
    '',
    ...table(parts),
    '',
    ...parts.flatMap((part) => [`## ${title(part)} · about ${number(part.tokens)} tokens`, '', part.text.trimEnd(), '']),
  ];
  return lines.join('\n');
}

function table(parts: readonly PromptPart[]): string[] {
  const rows = parts.map((part) => [title(part), number(part.tokens)] as const);
  const first = Math.max(4, ...rows.map(([name]) => name.length));
  const second = Math.max(6, ...rows.map(([, tokens]) => tokens.length));
  const row = (name: string, tokens: string) => `| ${name.padEnd(first)} | ${tokens.padStart(second)} |`;
  return [row('part', 'tokens'), `|${'-'.repeat(first + 2)}|${'-'.repeat(second + 1)}:|`, ...rows.map(([name, tokens]) => row(name, tokens))];
}

function title({ kind, name }: PromptPart): string {
  return name ? `${KINDS[kind]} ${name}` : KINDS[kind];
}

function share({ estimatedTokens, contextWindow }: Preview): string {
  if (!contextWindow) {
    return '';
  }
  const percent = (100 * estimatedTokens) / contextWindow;
  return `, ${percent < 0.1 ? 'less than 0.1' : percent.toFixed(1)} % of the ${number(contextWindow)} that the model can take`;
}

/** The same on every machine, since it is part of a document. */
function number(value: number): string {
  return value.toLocaleString('en');
}
