export * from './session/state.ts';
