export { blobStoreContract, type BlobStoreUnderTest } from './blob-store.contract.ts';
export { deliveriesOf } from './events-page.ts';
export { handContract, type HandCall, type HandUnderTest } from './hand.contract.ts';
export { keyServiceContract } from './key-service.contract.ts';
export { liveBusContract, type LiveBusUnderTest } from './live-bus.contract.ts';
export { modelContract, type ModelUnderTest, type PlannedAnswer } from './model.contract.ts';
export { sandboxProviderContract, type SandboxProviderUnderTest } from './sandbox-provider.contract.ts';
export { topicContract, type TopicUnderTest } from './topic.contract.ts';
export { workersContract, type WorkersUnderTest } from './workers.contract.ts';
export { MemoryTopic, type AppendFault, type MemoryTopicHooks, type MemoryTopicOptions } from './memory-topic.ts';
export { MemoryBlobStore } from './memory-blob-store.ts';
export { MemoryKeyService } from './memory-key-service.ts';
export {
  agentConfig,
  createAgentCommand,
  createEnvironmentCommand,
  createSessionCommand,
  environmentSettings,
  newTestId,
  sendText,
  sessionAgent,
} from './log-fixtures.ts';
export { sessionLogContract, type SessionLogUnderTest } from './session-log.contract.ts';
