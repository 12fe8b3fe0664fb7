/**
 * Messages on their way between threads: one buffer that is transferred, so that the hop costs the same however many
 * there are. It holds five numbers a message (partition, offset, time, bytes of the key, bytes of the value, -1 for a
 * tombstone), then all keys and values end to end.
 */
export interface PackedMessages {
  count: number;
  buffer: ArrayBuffer;
}

export interface LogMessage {
  /** Place in the list of all partitions of the layout. */
  partition: number;
  offset: number;
  appendedAt: number;
  key: string;
  value: Uint8Array | null;
}

export type LogEntry = Pick<LogMessage, 'partition' | 'key' | 'value'>;

const numbersEach = 5;
const headBytes = numbersEach * Float64Array.BYTES_PER_ELEMENT;

/** Copies the messages; entries without offset and time are given both later, with `stamp`. */
export function pack(messages: readonly (LogEntry & Partial<LogMessage>)[]): PackedMessages {
  let size = messages.length * headBytes;
  for (const { key, value } of messages) size += Buffer.byteLength(key) + (value?.length ?? 0);
  const buffer = new ArrayBuffer(size);
  const heads = new Float64Array(buffer, 0, messages.length * numbersEach);
  const bytes = Buffer.from(buffer);
  let at = messages.length * headBytes;
  messages.forEach(({ partition, offset = 0, appendedAt = 0, key, value }, index) => {
    const keyBytes = bytes.write(key, at);
    if (value) bytes.set(value, at + keyBytes);
    const head = index * numbersEach;
    heads[head] = partition;
    heads[head + 1] = offset;
    heads[head + 2] = appendedAt;
    heads[head + 3] = keyBytes;
    heads[head + 4] = value?.length ?? -1;
    at += keyBytes + (value?.length ?? 0);
  });
  return { count: messages.length, buffer };
}

/** The messages again; their values are views of the buffer. */
export function unpack({ count, buffer }: PackedMessages): LogMessage[] {
  const heads = new Float64Array(buffer, 0, count * numbersEach);
  const bytes = Buffer.from(buffer);
  const messages: LogMessage[] = [];
  let at = count * headBytes;
  for (let head = 0; head < heads.length; head += numbersEach) {
    const valueAt = at + (heads[head + 3] as number);
    const valueBytes = heads[head + 4] as number;
    messages.push({
      partition: heads[head] as number,
      offset: heads[head + 1] as number,
      appendedAt: heads[head + 2] as number,
      key: bytes.toString('utf8', at, valueAt),
      value: valueBytes < 0 ? null : new Uint8Array(buffer, valueAt, valueBytes),
    });
    at = valueAt + Math.max(valueBytes, 0);
  }
  return messages;
}

/** Writes down which offset and time a packed message was given. */
export function stamp({ buffer }: PackedMessages, index: number, offset: number, appendedAt: number): void {
  new Float64Array(buffer, index * headBytes, numbersEach).set([offset, appendedAt], 1);
}
