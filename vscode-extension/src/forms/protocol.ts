// What a form and the extension tell each other.

import type { Field } from './fields';
import type { Texts } from './values';

export interface FormState {
  readonly agent: string;
  readonly explanation: string;
  readonly fields: readonly Field[];
  /** What the fields say at first: what was written last time, else the defaults. */
  readonly texts: Texts;
  /** What the server has against the input as a whole. */
  readonly problem: string;
}

export interface FormMessage {
  readonly wanted: 'run' | 'preview' | 'close';
  readonly texts: Texts;
}
