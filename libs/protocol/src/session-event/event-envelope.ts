/** The fields every persisted event has besides its `type`. */
import { z } from 'zod';

/** Of an event the server emits: `processed_at` is always set. */
export const emittedEvent = { id: z.string(), processed_at: z.string() };

/** Of an event a client sent: `processed_at` is null while the event waits in the queue. */
export const sentEvent = { id: z.string(), processed_at: z.string().nullish() };
