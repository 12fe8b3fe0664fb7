/** Hands as one process reaches them: what it asks and what it learns passes its gate. */
import type { Hand, HandConnector, SandboxProvider } from '@manyhands/ports';
import type { SimProcess } from './process.ts';

async function through<T>(process: SimProcess, ask: () => Promise<T>): Promise<T> {
  await process.gate();
  try {
    return await ask();
  } finally {
    await process.gate();
  }
}

export function gatedProvider(provider: SandboxProvider, process: SimProcess): SandboxProvider {
  return {
    provision: (spec, signal) => through(process, () => provider.provision(spec, signal)),
    find: (ref) => through(process, () => provider.find(ref)),
    end: (ref) => through(process, () => provider.end(ref)),
    journal: (ref, executionId) => through(process, () => provider.journal(ref, executionId)),
    destroy: (sessionId) => through(process, () => provider.destroy(sessionId)),
    list: () => through(process, () => provider.list()),
  };
}

export function gatedConnector(connector: HandConnector, process: SimProcess): HandConnector {
  return {
    connect: (ref, address): Hand => {
      const hand = connector.connect(ref, address);
      return {
        ref,
        fence: (epoch) => through(process, () => hand.fence(epoch)),
        execute: (epoch, request, signal) => through(process, () => hand.execute(epoch, request, signal)),
        look: (epoch, executionId) => through(process, () => hand.look(epoch, executionId)),
        cancel: (epoch, executionId) => through(process, () => hand.cancel(epoch, executionId)),
      };
    },
  };
}
