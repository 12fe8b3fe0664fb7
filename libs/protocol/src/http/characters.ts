import { z } from 'zod';

/** A string of `min` to `max` characters. Characters are code points, as the hosted API counts them. */
export function characters(min: number, max: number) {
  const message = min === 0 ? `must have at most ${max} characters` : `must have ${min} to ${max} characters`;
  return z.string().refine((text) => hasLength(text, min, max), message);
}

/** Whether a text has `min` to `max` code points; counts them only where the UTF-16 length leaves a doubt. */
export function hasLength(text: string, min: number, max: number): boolean {
  if (text.length < min || text.length > 2 * max) return false;
  if (text.length <= max && min <= 1) return true;
  let count = 0;
  for (const _ of text) count++;
  return count >= min && count <= max;
}
