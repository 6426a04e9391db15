// Times, tokens and money as a person reads them. Knows nothing of VS Code.

import type { AgentPlace, ContextEvent, MessagesGiven, TurnWait, Used } from '../protocol';

const MINUTE = 60_000;

export function duration(milliseconds: number): string {
  if (milliseconds < MINUTE) {
    return `${(milliseconds / 1000).toFixed(1)} s`;
  }
  const seconds = Math.round(milliseconds / 1000);
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

/** What is left of a time. */
export function timeLeft(milliseconds: number): string {
  const seconds = Math.max(0, Math.ceil(milliseconds / 1000));
  return seconds < 60 ? `${seconds} s left` : `${Math.floor(seconds / 60)} min ${seconds % 60} s left`;
}

/** The same for a row that must not change each second: whole minutes, then tens of seconds, never less than there is. */
export function roughTimeLeft(milliseconds: number): string {
  const seconds = Math.max(0, Math.ceil(milliseconds / 1000));
  return seconds <= 60 ? `${Math.ceil(seconds / 10) * 10} s left` : `${Math.ceil(seconds / 60)} min left`;
}

/** Why a request waits. */
export function waiting({ provider, waitMs }: TurnWait): string {
  const why = waitMs === undefined ? 'takes no more requests at once: waiting for others' : `asked for a pause: waiting for ${duration(waitMs)}`;
  return `${provider} ${why}`;
}

/** Where the tools of an agent work, or what they wait for; empty for the usual place. */
export function placeInWords({ place, waiting }: AgentPlace): string {
  if (waiting) {
    return `waits for ${waiting}${place && ` at ${place}`}`;
  }
  return place === 'here' ? '' : `at ${place}`;
}

/** What happens to a conversation that is too long for its model. */
export function roomMade(event: ContextEvent): string {
  if (event.kind === 'begin') {
    return `asks for a summary, since about ${whole(event.tokensBefore)} tokens are too many`;
  }
  if (event.kind === 'end' && event.error) {
    return `no summary: ${event.error}`;
  }
  const what = event.kind === 'end' ? `${count(event.messages, 'message')} replaced by a summary` : `${count(event.results, 'old tool result')} shortened`;
  return `${what}, about ${whole(event.tokensBefore)} to ${whole(event.tokensAfter)} tokens`;
}

/** What is special about a request, beside that it is not answered yet. */
export function stateInWords(state: TurnWait | ContextEvent): string {
  return 'provider' in state ? waiting(state) : roomMade(state);
}

/** What a request gives to the model beside tool results. */
export function givenInWords({ sideRuns, messageIds }: MessagesGiven): string {
  const answers = sideRuns.length > 0 ? `${sideRuns.length === 1 ? 'answer' : 'answers'} of ${sideRuns.join(', ')}` : '';
  // A replay names no messages of its own.
  const messages = messageIds.length > 0 || !answers ? count(Math.max(1, messageIds.length), 'message') : '';
  return joined([answers, messages], ' and ');
}

export function whole(number: number): string {
  return number.toLocaleString('en-US');
}

/** Short, for where a heading or a tooltip says what it means: `3,140 + 632`. */
export function tokens({ inputTokens, outputTokens }: Used): string {
  return `${whole(inputTokens)} + ${whole(outputTokens)}`;
}

export function tokensInWords({ inputTokens, outputTokens }: Used): string {
  return `${whole(inputTokens)} tokens in, ${whole(outputTokens)} out`;
}

export function money(cost: number | undefined): string {
  return cost === undefined ? '' : `$${cost.toFixed(4)}`;
}

export function count(number: number, noun: string): string {
  return `${whole(number)} ${noun}${number === 1 ? '' : 's'}`;
}

/** One line of at most so many characters. */
export function shortened(text: string, most: number): string {
  const line = text.trim().replaceAll(/\s+/g, ' ');
  return line.length > most ? `${line.slice(0, most - 1)}…` : line;
}

/** The end of a text, in one line: what was written last. */
export function tail(text: string, most: number): string {
  const line = text.trim().replaceAll(/\s+/g, ' ');
  return line.length > most ? `…${line.slice(1 - most)}` : line;
}

/** What stands between two others is left out if it is empty. */
export function joined(parts: readonly (string | undefined)[], separator = ' · '): string {
  return parts.filter(Boolean).join(separator);
}
