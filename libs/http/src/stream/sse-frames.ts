/** Messages of an event stream as text. The `event:` line is what SDKs dispatch on: they drop messages without one. */
import type { Delivery, EventCursor } from '@manyhands/ports';
import type { DeltaEvent, ErrorBody, Seq, StartEvent } from '@manyhands/protocol';

/** Carries no `id:`, so it never moves the position a client resumes from. */
export const pingFrame = 'event: ping\ndata: {"type":"ping"}\n\n';

/** A persisted event with its position, `seq.n`. */
export function eventFrame({ cursor, event }: Delivery): string {
  return `event: ${event.type}\nid: ${cursor.seq}.${cursor.n}\ndata: ${oneLine(event)}\n\n`;
}

export function previewFrame(preview: StartEvent | DeltaEvent): string {
  return `event: ${preview.type}\ndata: ${oneLine(preview)}\n\n`;
}

/** SDKs throw the error it carries. */
export function errorFrame(body: ErrorBody): string {
  return `event: error\ndata: ${oneLine(body)}\n\n`;
}

/** The position of a `Last-Event-ID` header; null when it is none of ours. */
export function parseEventId(text: string): EventCursor | null {
  const [, seq, n] = /^(\d{1,15})\.(\d{1,15})$/.exec(text) ?? [];
  return seq === undefined || n === undefined ? null : { seq: Number(seq) as Seq, n: Number(n) };
}

/** JSON breaks no line by the format's rules, but clients that split by Unicode's would see breaks at these three. */
const unicodeBreaks = /[\u0085\u2028\u2029]/g;

function oneLine(value: unknown): string {
  return JSON.stringify(value).replace(unicodeBreaks, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}
