import type { Refusal } from '../session-command.ts';

/** What an update made of a resource. `changed` is false when the result says the same as before: no new version then. */
export type Updated<T> = { ok: true; value: T; changed: boolean } | { ok: false; refusal: Refusal };
