/** An invariant that does not hold; the message names it. */
export class Violation extends Error {
  override readonly name = 'Violation';
}

export function must(holds: boolean, what: string): asserts holds {
  if (!holds) throw new Violation(what);
}
