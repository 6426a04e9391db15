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
  /** A text for the first field that was typed elsewhere while the form was open; `key` is higher for a later one. */
  readonly addition?: { readonly key: number; readonly text: string } | undefined;
}

/** What a page keeps, for when the window is loaded anew. */
export interface FormView {
  readonly file: string;
  readonly texts: Texts;
  /** The key of the last addition that is in `texts`. */
  readonly added?: number;
}

export interface FormMessage {
  /** To keep the texts is what a page wants after each change, so that they are not lost with its tab. */
  readonly wanted: 'run' | 'preview' | 'close' | 'keep';
  readonly texts: Texts;
}
