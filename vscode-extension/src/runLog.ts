// The events of runs as a log for people: a line each, indented by depth. Knows nothing of VS Code.
//
// One run at a time writes its text as it arrives; what others say meanwhile is written when their turn
// ends, because pieces of parallel answers in one another's lines would be unreadable.

import type { AgentBegin, AgentEnd, TextDelta, ToolBegin, ToolEnd, TurnBegin, TurnEnd } from './protocol';

const MAX_LINE = 160;

export class RunLog {
  private speaker: string | undefined;
  private lineIsOpen = false;

  constructor(private readonly write: (text: string) => void) {}

  agent(event: AgentBegin | AgentEnd): void {
    if (event.kind === 'begin') {
      this.line(event, `▶ ${shorten(event.task)}${event.model && ` (${event.model})`}`);
      return;
    }
    this.endSpeech(event.runId);
    const mark = event.status === 'completed' ? '✓' : '✗';
    const reason = event.error ? `: ${shorten(event.error)}` : '';
    this.line(event, `${mark} ${event.status} in ${seconds(event.durationMs)}${reason} · ${totals(event)}`);
  }

  turn(event: TurnBegin | TurnEnd): void {
    if (event.kind === 'begin') {
      this.line(event, `· turn ${event.turn}, ${count(event.messages, 'message')}`);
      return;
    }
    const wasHeard = this.endSpeech(event.runId);
    if (!wasHeard && event.text) {
      for (const line of event.text.split('\n')) {
        this.line(event, `| ${line}`);
      }
    }
  }

  text(event: TextDelta): void {
    this.speaker ??= event.runId;
    if (this.speaker !== event.runId) {
      return;
    }
    const continuation = `\n${prefix(event)} | `;
    const opening = this.lineIsOpen ? '' : continuation.slice(1);
    this.write(opening + event.delta.replaceAll('\n', continuation));
    this.lineIsOpen = true;
  }

  tool(event: ToolBegin | ToolEnd): void {
    if (event.kind === 'begin') {
      this.line(event, `→ ${event.name} ${shorten(JSON.stringify(event.arguments))}`);
    } else if (event.isError) {
      this.line(event, `← ${event.name} failed after ${seconds(event.durationMs)}: ${shorten(event.content)}`);
    } else {
      this.line(event, `← ${event.name} in ${seconds(event.durationMs)}`);
    }
  }

  /** Whether the run's text of this turn has been written as it arrived. */
  private endSpeech(runId: string): boolean {
    if (this.speaker !== runId) {
      return false;
    }
    this.speaker = undefined;
    this.closeLine();
    return true;
  }

  private line(event: Speaker, text: string): void {
    this.closeLine();
    this.write(`${prefix(event)} ${text}\n`);
  }

  private closeLine(): void {
    if (this.lineIsOpen) {
      this.write('\n');
      this.lineIsOpen = false;
    }
  }
}

interface Speaker {
  readonly agent: string;
  readonly depth: number;
}

function prefix(event: Speaker): string {
  return '  '.repeat(event.depth) + event.agent;
}

function totals(event: AgentEnd): string {
  return [
    count(event.turns, 'turn'),
    count(event.toolCalls, 'tool call'),
    `${event.inputTokens} tokens in`,
    `${event.outputTokens} out`,
  ].join(', ');
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}

function seconds(milliseconds: number): string {
  return `${(milliseconds / 1000).toFixed(1)} s`;
}

function shorten(text: string): string {
  const line = text.trim().replaceAll(/\s+/g, ' ');
  return line.length > MAX_LINE ? `${line.slice(0, MAX_LINE - 1)}…` : line;
}
