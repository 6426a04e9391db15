// How often a server that crashes is started again. Knows nothing of VS Code.

export const MOST_CRASHES = 4;
export const WINDOW_MINUTES = 3;

export class Restarts {
  private readonly crashes: number[] = [];

  constructor(private readonly now: () => number = Date.now) {}

  /** To be told of each crash; false when there were too many lately. */
  allowAnother(): boolean {
    this.crashes.push(this.now());
    const lately = this.now() - WINDOW_MINUTES * 60_000;
    while (this.crashes[0] !== undefined && this.crashes[0] < lately) {
      this.crashes.shift();
    }
    return this.crashes.length <= MOST_CRASHES;
  }
}
