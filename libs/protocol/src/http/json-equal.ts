/** Whether two JSON values say the same. The order of an object's keys does not count; an undefined field is no field. */
export function jsonEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a) || Array.isArray(b)) {
    return (
      Array.isArray(a) && Array.isArray(b) && a.length === b.length && a.every((value, i) => jsonEqual(value, b[i]))
    );
  }
  const left = fieldsOf(a);
  const right = new Map(fieldsOf(b));
  return left.length === right.size && left.every(([key, value]) => right.has(key) && jsonEqual(value, right.get(key)));
}

function fieldsOf(value: object): [string, unknown][] {
  return Object.entries(value).filter(([, field]) => field !== undefined);
}
