// The events of runs as a log for people: a line each, indented by depth. Knows nothing of VS Code.
//
// One run at a time writes its text as it arrives; what others say meanwhile is kept until it is their
// turn to write, because pieces of parallel answers in one another's lines would be unreadable.

import type {
  AgentBegin,
  AgentEnd,
  AgentIdle,
  AgentPlace,
  AgentResume,
  ContextEvent,
  MessageEvent,
  TextDelta,
  ThoughtDelta,
  ToolBegin,
  ToolEnd,
  TurnBegin,
  TurnEnd,
  TurnRetry,
  TurnWait,
} from '../protocol';

import { givenInWords, placeInWords, stateInWords } from './figures';
import { incompleteInWords } from './presenting';

const MAX_LINE = 160;

export class RunLog {
  private speaker: string | undefined;
  private lineIsOpen = false;
  /** The ends of lines after which the speaker has said nothing yet. */
  private owed = '';
  /** What others have said meanwhile, by run id. */
  private readonly unheard = new Map<string, string>();
  /** What runs think, which becomes one line when they have thought. */
  private readonly thoughts = new Map<string, string>();

  constructor(private readonly write: (text: string) => void) {}

  agent(event: AgentBegin | AgentResume | AgentIdle | AgentEnd): void {
    if (event.kind === 'idle') {
      this.line(event, `⟳ waits for ${event.sideRuns.join(', ')}`);
      return;
    }
    if (event.kind !== 'begin') { // A run that is resumed may have lost its process in the middle of a sentence.
      this.endThought(event);
      this.endSpeech(event, this.unheard.get(event.runId) ?? '');
    }
    if (event.kind !== 'end') {
      const model = event.model && `(${event.model})`;
      const how = event.kind === 'resume' ? `resumed at turn ${event.turn}:` : '';
      this.line(event, ['▶', event.side && `side run ${event.side}:`, how, shorten(event.description ?? event.task), model].filter(Boolean).join(' '));
    } else {
      this.line(event, ending(event));
    }
  }

  /** A run of which nobody will say how it has ended. */
  lost(begun: RunOfEvent): void {
    this.endSpeech(begun, this.unheard.get(begun.runId) ?? '');
    this.line(begun, '✗ killed: the language server has stopped');
  }

  turn(event: TurnBegin | TurnRetry | TurnEnd): void {
    if (event.kind === 'begin') {
      this.line(event, `· turn ${event.turn}, ${count(event.messages, 'message')}`);
    } else if (event.kind === 'retry') {
      this.thoughts.delete(event.runId);
      this.line(event, retry(event));
    } else {
      this.endThought(event);
      this.endSpeech(event, event.text);
      if (event.incomplete) {
        this.line(event, `⚠ ${incompleteInWords(event.incomplete)}`);
      }
    }
  }

  thought(event: ThoughtDelta): void {
    this.thoughts.set(event.runId, (this.thoughts.get(event.runId) ?? '') + event.delta);
  }

  text(event: TextDelta): void {
    this.endThought(event);
    this.speaker ??= event.runId;
    const said = (this.unheard.get(event.runId) ?? '') + event.delta;
    if (this.speaker === event.runId) {
      this.unheard.delete(event.runId);
      this.speak(event, said);
    } else {
      this.unheard.set(event.runId, said);
    }
  }

  /** The tools of an agent work somewhere else from now on, or wait for a place. */
  place(event: AgentPlace): void {
    const told = placeInWords(event);
    if (told) {
      this.line(event, `⟳ ${shorten([told, event.reason].filter(Boolean).join(': '))}`);
    }
  }

  /** A request waits, or is made shorter. */
  state(event: TurnWait | ContextEvent): void {
    this.line(event, `⟳ ${shorten(stateInWords(event))}`);
  }

  message(event: MessageEvent): void {
    this.line(event, messageInWords(event));
  }

  tool(event: ToolBegin | ToolEnd): void {
    if (event.kind === 'begin') {
      this.line(event, `→ ${event.name} ${shorten(asked(event))}`);
    } else if (event.isError) {
      this.line(event, `← ${event.name} failed after ${seconds(event.durationMs)}: ${shorten(event.content)}`);
    } else {
      this.line(event, `← ${event.name} in ${seconds(event.durationMs)}`);
    }
  }

  private speak(event: TextDelta, said: string): void {
    const text = this.owed + said;
    const spoken = text.replace(/\n+$/, '');
    this.owed = text.slice(spoken.length);
    if (!spoken) {
      return;
    }
    const continuation = `\n${prefix(event)} | `;
    const opening = this.lineIsOpen ? '' : continuation.slice(1);
    this.write(opening + spoken.replaceAll('\n', continuation));
    this.lineIsOpen = true;
  }

  private endThought(event: RunOfEvent): void {
    const thought = this.thoughts.get(event.runId);
    this.thoughts.delete(event.runId);
    if (thought?.trim()) {
      this.line(event, `~ ${shorten(thought)}`);
    }
  }

  /** Ends what a run says. `text` is all of it, and is written unless it was as it arrived. */
  private endSpeech(event: RunOfEvent, text: string): void {
    this.unheard.delete(event.runId);
    if (this.speaker === event.runId) {
      this.closeLine();
      this.speaker = undefined;
      this.owed = '';
    } else if (text) {
      for (const line of text.replace(/\n+$/, '').split('\n')) {
        this.line(event, `| ${line}`);
      }
    }
  }

  private line(event: RunOfEvent, text: string): void {
    this.closeLine();
    this.write(`${prefix(event)} ${text}\n`);
  }

  private closeLine(): void {
    if (this.lineIsOpen) {
      this.write('\n');
      this.lineIsOpen = false;
      this.owed = this.owed.slice(1);
    }
  }
}

interface RunOfEvent {
  readonly runId: string;
  readonly agent: string;
  readonly depth: number;
}

function prefix(event: RunOfEvent): string {
  return '  '.repeat(event.depth) + event.agent;
}

function messageInWords(event: MessageEvent): string {
  switch (event.kind) {
    case 'queued':
      return `✉ ${event.mode === 'next' ? '' : `(${event.mode}) `}${shorten(event.text)}`;
    case 'changed':
      return `✉ changed${event.mode === undefined ? '' : ` (${event.mode})`}${event.text === undefined ? '' : `: ${shorten(event.text)}`}`;
    case 'removed':
      return '✉ removed';
    case 'given':
      return `✉ ${givenInWords(event)} for turn ${event.turn}`;
  }
}

function retry(event: TurnRetry): string {
  const times = `${event.attempt} of ${event.maxAttempts}`;
  return `⟳ ${event.category}: ${shorten(event.message)}; sent again in ${seconds(event.waitMs)} (${times})`;
}

/** A cancelled run gives "cancelled" as the reason too; once is enough. */
function ending(event: AgentEnd): string {
  const mark = event.status !== 'completed' ? '✗' : event.incomplete ? '⚠' : '✓';
  const error = event.error && event.error !== event.status ? shorten(event.error) : incompleteInWords(event.incomplete);
  const reason = error && `: ${error}`;
  return `${mark} ${event.status} in ${seconds(event.durationMs)}${reason} · ${totals(event)}`;
}

function totals(event: AgentEnd): string {
  return [
    count(event.turns, 'turn'),
    count(event.toolCalls, 'tool call'),
    used(event),
    event.tree && `${used(event.tree)} with all agents`,
  ]
    .filter(Boolean)
    .join(', ');
}

function used(by: { readonly inputTokens: number; readonly outputTokens: number; readonly cost?: number }): string {
  const tokens = `${by.inputTokens} tokens in, ${by.outputTokens} out`;
  return by.cost === undefined ? tokens : `${tokens}, $${by.cost.toFixed(4)}`;
}

/** What a child is asked to do stands in its own line. */
function asked(event: ToolBegin): string {
  const child = event.name === 'call_agent' && event.arguments['agent'];
  return typeof child === 'string' ? child : JSON.stringify(event.arguments);
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
