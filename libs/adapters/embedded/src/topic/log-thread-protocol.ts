/** What the main thread and a thread of the log say to each other. Requests are answered one by one, in order. */
import type { LogFailureCode } from './log-failure.ts';
import type { LogLayout } from './log-layout.ts';
import type { ReadRequest } from './log-reader.ts';
import type { PackedMessages } from './packed-messages.ts';

export interface LogThreadData {
  role: 'writer' | 'reader';
  file: string;
  layout: LogLayout;
}

export type LogRequest =
  /** The first request: it answers what came of opening the file. */
  | { kind: 'open' }
  | { kind: 'append'; batch: PackedMessages }
  | { kind: 'read'; read: ReadRequest }
  | { kind: 'start-offset'; partition: number }
  | { kind: 'close' };

export interface LogAnswers {
  /** What the writer found; nothing of the reader. */
  open: { identity: string; ends: number[] } | null;
  append: PackedMessages;
  read: PackedMessages;
  'start-offset': number;
  close: null;
}

export type LogReply =
  | { ok: true; answer: LogAnswers[LogRequest['kind']] }
  /** `ends`: what the file holds now, when the writer could open it again. */
  | { ok: false; code: LogFailureCode; message: string; ends: number[] | null };
