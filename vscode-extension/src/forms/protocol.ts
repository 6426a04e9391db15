// What a form and the extension tell each other.

import type { Field } from './fields';
import type { Texts } from './values';

export interface FormState {
  readonly file: string;
  readonly agent: string;
  readonly explanation: string;
  readonly fields: readonly Field[];
  /** What the fields say at first: what was written last time, else the defaults. */
  readonly texts: Texts;
  /** What the server has against the input as a whole. */
  readonly problem: string;
}

/** What a page keeps, for when the window is loaded anew. */
export interface FormView {
  readonly file: string;
  readonly texts: Texts;
}

export interface FormMessage {
  readonly wanted: 'run' | 'preview' | 'close';
  readonly texts: Texts;
}
