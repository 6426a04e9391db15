// Lists of values open by themselves when a key was completed whose value is one of a list, such as `model`.

import { CompletionList, SnippetString, type CompletionItem } from 'vscode';
import type { Middleware } from 'vscode-languageclient/node';

/** Opens the list without a word if there is nothing in it. */
const SHOW_VALUES = { command: 'editor.action.triggerSuggest', title: 'Show Values', arguments: [{ auto: true }] };

export const listsOfValues: NonNullable<Middleware['provideCompletionItem']> = async (document, position, context, token, next) => {
  const completions = await next(document, position, context, token);
  (completions instanceof CompletionList ? completions.items : completions)?.forEach(showValues);
  return completions;
};

/** A snippet with an empty string for the cursor to stop in. */
function showValues(item: CompletionItem): void {
  if (item.insertText instanceof SnippetString && item.insertText.value.includes('"$1"')) {
    item.command ??= SHOW_VALUES;
  }
}
