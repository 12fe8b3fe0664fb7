// The two platform globals the pure layers may use. They compile without Node's types, which would bring clocks,
// timers and the file system within reach.
declare global {
  class TextEncoder {
    encode(input?: string): Uint8Array<ArrayBuffer>;
  }

  class TextDecoder {
    constructor(label?: string, options?: { fatal?: boolean; ignoreBOM?: boolean });
    decode(input?: ArrayBuffer | ArrayBufferView): string;
  }
}

export {};
