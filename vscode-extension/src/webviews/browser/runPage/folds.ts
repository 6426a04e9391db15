// What the reader has opened and closed. It stays so when the page is hidden and shown again.

export class Folds {
  private readonly chosen: Map<string, boolean>;

  /** `onChange` keeps what `all` returns. */
  constructor(
    kept: Readonly<Record<string, boolean>>,
    private readonly onChange: () => void,
  ) {
    this.chosen = new Map(Object.entries(kept));
  }

  /** Opens or closes an element as the reader wants it, or by `isOpen`, and follows what the reader does. */
  follow(details: HTMLDetailsElement, id: string, isOpen: boolean): void {
    this.draw(details, id, isOpen);
    details.querySelector('summary')?.addEventListener('click', () => {
      this.chosen.set(id, !details.open); // The click has had no effect yet.
      this.onChange();
    });
  }

  draw(details: HTMLDetailsElement, id: string, isOpen: boolean): void {
    details.open = this.chosen.get(id) ?? isOpen;
  }

  all(): Record<string, boolean> {
    return Object.fromEntries(this.chosen);
  }
}
