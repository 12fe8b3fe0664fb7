import { describe, expect, it } from 'vitest';
import { KeyServiceError } from '../key-service.ts';
import type { KeyService } from '../key-service.ts';
import { unhurried } from './patience.ts';

/** What every key service promises. `open` gives the same key-encryption key each time, `openOther` another one. */
export function keyServiceContract(
  name: string,
  { open, openOther }: { open: () => Promise<KeyService>; openOther: () => Promise<KeyService> },
): void {
  describe(`key service contract: ${name}`, unhurried, () => {
    const dataKey = Uint8Array.from({ length: 32 }, (_, n) => n);
    const context = 'sesn_01abc/dkey_01def';

    it('unwraps what it wrapped', async () => {
      const service = await open();
      expect([...service.unwrap(service.wrap(dataKey, context), context)]).toEqual([...dataKey]);
    });

    it('unwraps what was wrapped before it was opened', async () => {
      const wrapped = (await open()).wrap(dataKey, context);
      expect([...(await open()).unwrap(wrapped, context)]).toEqual([...dataKey]);
    });

    it('does not show the data key in the wrapped one', async () => {
      const wrapped = (await open()).wrap(dataKey, context);
      expect([...wrapped].join()).not.toContain([...dataKey].join());
    });

    it('refuses a wrapped key of another context', async () => {
      const service = await open();
      const wrapped = service.wrap(dataKey, context);
      expect(() => service.unwrap(wrapped, 'sesn_01other/dkey_01def')).toThrow(KeyServiceError);
      expect(() => service.unwrap(wrapped, '')).toThrow(KeyServiceError);
    });

    it('refuses what another key wrapped', async () => {
      const wrapped = (await openOther()).wrap(dataKey, context);
      const service = await open();
      expect(() => service.unwrap(wrapped, context)).toThrow(KeyServiceError);
    });

    it('refuses a wrapped key that was altered, at whichever byte', async () => {
      const service = await open();
      const wrapped = service.wrap(dataKey, context);
      for (const at of wrapped.keys()) {
        const altered = Uint8Array.from(wrapped, (byte, index) => (index === at ? byte ^ 1 : byte));
        expect(() => service.unwrap(altered, context)).toThrow(KeyServiceError);
      }
    });

    it('refuses bytes that are no wrapped key', async () => {
      const service = await open();
      for (const length of [0, 1, 12, 28, 29, 60, 1_000])
        expect(() => service.unwrap(new Uint8Array(length), context)).toThrow(KeyServiceError);
      const wrapped = service.wrap(dataKey, context);
      expect(() => service.unwrap(wrapped.subarray(0, -1), context)).toThrow(KeyServiceError);
    });
  });
}
