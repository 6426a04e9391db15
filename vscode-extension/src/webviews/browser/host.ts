// How a page speaks with the extension: it is told its whole state, and says what its reader has done.

interface Host<View> {
  postMessage(message: unknown): void;
  getState(): View | undefined;
  setState(view: View): void;
}

declare function acquireVsCodeApi<View>(): Host<View>;

const host = acquireVsCodeApi<unknown>();

/** Calls `show` with the state, now and whenever it changes. */
export function follow<State>(show: (state: State) => void): void {
  window.addEventListener('message', ({ data }: MessageEvent<State>) => show(data));
  tell('ready');
  const tellFocus = () => tell(document.hasFocus() ? 'focus' : 'blur');
  window.addEventListener('focus', tellFocus);
  window.addEventListener('blur', tellFocus);
  tellFocus();
}

export function tell(message: unknown): void {
  host.postMessage(message);
}

/** What the reader has chosen in the page, such as a zoom: kept while the page is hidden. */
export function keep(view: unknown): void {
  host.setState(view);
}

export function kept<View>(): View | undefined {
  return host.getState() as View | undefined;
}
