export { AnthropicModel, type AnthropicModelOptions } from './anthropic-model.ts';
export { profileOf, type MessagesProfile } from './model-profiles.ts';
