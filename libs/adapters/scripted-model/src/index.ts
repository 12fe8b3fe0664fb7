export { startScriptedModel, type ScriptedModel, type ScriptedModelOptions } from './server.ts';
export {
  parseScript,
  script,
  ScriptError,
  type Script,
  type ScriptBlock,
  type ScriptFault,
  type ScriptTurn,
  type ScriptTurnInput,
} from './script.ts';
export { compactionMarker } from './unscripted.ts';
export { preciseNow, type LoggedRequest, type RequestLog } from './request-log.ts';
