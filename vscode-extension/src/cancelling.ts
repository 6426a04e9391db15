// Closes what the user is asked with as soon as there is an answer from elsewhere.

import { CancellationTokenSource, type CancellationToken } from 'vscode';

export function cancelledWith<T>(answer: Promise<unknown>, ask: (token: CancellationToken) => Thenable<T>): Thenable<T> {
  const source = new CancellationTokenSource();
  void answer.then(() => source.cancel());
  return ask(source.token);
}
