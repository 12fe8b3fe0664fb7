export { HandClients } from './hand-clients.ts';
export { signGrant, verifyGrant } from './grant-token.ts';
export {
  maxBodyBytes,
  maxWaitMs,
  type ErrorAnswer,
  type ExecutionAnswer,
  type ExecutionBody,
  type ExecutionList,
} from './wire.ts';
