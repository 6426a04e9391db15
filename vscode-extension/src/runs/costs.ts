// What runs have cost today and this week. Knows nothing of VS Code.

import { beginningOfDay } from './days';
import { joined } from './figures';
import { usedBy, type RunNode } from './nodes';

const CENTS = 2;

/**
 * Returns words such as `$0.12 today · $1.30 this week`; empty if nothing is known to have cost anything. The week begins on Monday.
 * `roots` come newest first; `isWhole` says whether there are no older ones.
 */
export function costsInWords(roots: readonly RunNode[], now: number, isWhole: boolean): string {
  const today = beginningOfDay(now);
  const [ofToday, ofWeek] = [costSince(roots, today), costSince(roots, beginningOfWeek(today))];
  const isCut = !isWhole && (roots.at(-1)?.began ?? 0) >= beginningOfWeek(today);
  return ofWeek === 0 ? '' : joined([`${dollars(ofToday)} today`, `${isCut ? 'over ' : ''}${dollars(ofWeek)} this week`]);
}

function costSince(roots: readonly RunNode[], moment: number): number {
  return roots.filter(({ began }) => began >= moment).reduce((sofar, run) => sofar + (usedBy(run).cost ?? 0), 0);
}

function beginningOfWeek(today: number): number {
  const day = new Date(today);
  const sinceMonday = (day.getDay() + 6) % 7;
  return new Date(day.getFullYear(), day.getMonth(), day.getDate() - sinceMonday).getTime();
}

/** Small sums are not shown as nothing. */
function dollars(cost: number): string {
  return cost > 0 && cost < 0.01 ? '<$0.01' : `$${cost.toFixed(CENTS)}`;
}
