// Gathers what changes in runs, so that whoever shows it draws anew a few times a second, however fast texts arrive.

import { EventEmitter, type Disposable } from 'vscode';
import type { Node } from './nodes';

export interface Changed {
  /** Whether the list of runs is another. */
  readonly list: boolean;
  readonly nodes: readonly Node[];
}

export class Changes implements Disposable {
  private readonly emitter = new EventEmitter<Changed>();
  readonly onDidChange = this.emitter.event;
  private readonly nodes = new Set<Node>();
  private list = false;
  private timer: NodeJS.Timeout | undefined;

  /** `pause` is the shortest time between two events, in milliseconds. */
  constructor(private readonly pause: number) {}

  /** Without a node the list of runs has changed. */
  add(node: Node | undefined): void {
    if (node) {
      this.nodes.add(node);
    } else {
      this.list = true;
    }
    this.timer ??= setTimeout(() => this.tell(), this.pause);
  }

  dispose(): void {
    clearTimeout(this.timer);
    this.emitter.dispose();
  }

  private tell(): void {
    const changed = { list: this.list, nodes: [...this.nodes] };
    this.timer = undefined;
    this.list = false;
    this.nodes.clear();
    this.emitter.fire(changed);
  }
}
