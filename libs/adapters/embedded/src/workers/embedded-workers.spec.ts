import { workersContract } from '@manyhands/ports/testing';
import { EmbeddedWorkers } from './embedded-workers.ts';

workersContract('embedded', async () => ({
  start: async () => new EmbeddedWorkers(),
  kill: async () => {},
  close: async () => {},
}));
