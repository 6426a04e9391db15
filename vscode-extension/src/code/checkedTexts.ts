// Knows which texts of documents have been checked: a publication of diagnostics counts if it came after the last change
// of the text, and if none followed it for a while, since language servers publish in parts. VS Code does not say
// which version a publication is about.

/** A timer that can be cancelled, and the time in milliseconds. */
export interface Clock {
  now(): number;
  after(ms: number, action: () => void): () => void;
}

export const QUIET_MS = 400;

const realClock: Clock = {
  now: () => performance.now(),
  after: (ms, action) => {
    const timer = setTimeout(action, ms);
    return () => clearTimeout(timer);
  },
};

export class CheckedTexts {
  /** When each text was last published, by URI; absent since its last change. */
  private readonly published = new Map<string, number>();
  private readonly waiting = new Set<() => void>();

  constructor(private readonly clock: Clock = realClock) {}

  didChange(uri: string): void {
    this.published.delete(uri);
  }

  didPublish(uri: string): void {
    this.published.set(uri, this.clock.now());
    this.waiting.forEach((look) => look());
  }

  /** Resolves to whether the text is checked, within `ms` at the latest. */
  settled(uri: string, ms: number): Promise<boolean> {
    const deadline = this.clock.now() + ms;
    return new Promise((resolve) => {
      let cancel = () => {};
      const look = () => {
        cancel();
        const now = this.clock.now();
        const quietAt = (this.published.get(uri) ?? Infinity) + QUIET_MS;
        if (quietAt <= now || deadline <= now) {
          this.waiting.delete(look);
          resolve(quietAt <= now);
        } else {
          cancel = this.clock.after(Math.min(quietAt, deadline) - now, look);
        }
      };
      this.waiting.add(look);
      look();
    });
  }
}
