/** One model request: from the records of a session to an outcome. It retries nothing; that is the log's business. */
import type { Outcome, SessionState, TurnLimits } from '@manyhands/core';
import {
  builtinTools,
  classifyCalls,
  compactionPrompt,
  defaultTurnLimits,
  noTokens,
  offeredTools,
  retryDelayMs,
  runsInHandByName,
  sandboxNote,
  summaryOf,
  turnOf,
} from '@manyhands/core';
import type { ModelRequest, ModelResponse } from '@manyhands/ports';
import { ModelError } from '@manyhands/ports';
import type { Instant, SessionAgent, SessionErrorType, TokenUsage } from '@manyhands/protocol';
import type { OpenRequest } from '@manyhands/core';
import type { HarnessCounters, HarnessDeps } from './deps.ts';
import { availableTools } from './deps.ts';
import type { HeldSession } from './held-session.ts';
import type { Previews } from './previews.ts';

export interface ModelCall {
  held: HeldSession;
  request: OpenRequest;
  previews: Previews;
  signal: AbortSignal;
}

/** null when it was aborted: nobody wants the outcome. */
export async function callModel(call: ModelCall, deps: HarnessDeps): Promise<Outcome | null> {
  const { held, request, previews, signal } = call;
  deps.counters.modelRequests++;
  try {
    const agent = await held.prompt.agent(deps.log, held.state);
    const prompt = promptOf(held, request, agent, deps);
    const response = await deps.model.respond(
      prompt,
      (progress) => {
        if (request.purpose === 'turn') previews.follow(progress);
      },
      signal,
    );
    countTokens(response.usage, deps.counters);
    return request.purpose === 'turn'
      ? responded(response, call, agent, deps)
      : compactedOrFailed(response, call, deps);
  } catch (error) {
    if (signal.aborted) return null;
    if (!(error instanceof ModelError)) throw error;
    deps.counters.modelFailures++;
    const { sessionId } = held.state;
    deps.logger.warn({ sessionId, code: error.code, retriable: error.retriable }, 'a model request failed');
    return failed(error, call, deps);
  }
}

function countTokens(usage: TokenUsage, counters: HarnessCounters): void {
  counters.inputTokens +=
    usage.inputTokens +
    usage.cacheReadInputTokens +
    usage.cacheCreation5mInputTokens +
    usage.cacheCreation1hInputTokens;
  counters.outputTokens += usage.outputTokens;
}

function promptOf(held: HeldSession, request: OpenRequest, agent: SessionAgent, deps: HarnessDeps): ModelRequest {
  const profile = deps.profileOf(agent.model.id);
  const tools = offeredTools(agent, availableTools(deps), builtinTools);
  const messages = deps.contextPolicy.messages(held.prompt.records, {
    trimmedThrough: held.state.context.trimmedThrough,
    midConversationSystem: profile.midConversationSystem,
  });
  if (request.purpose === 'compaction') {
    const last = messages.at(-1);
    const ask = { type: 'text', text: compactionPrompt };
    if (last?.role === 'user') last.content.push(ask);
    else messages.push({ role: 'user', content: [ask] });
  }
  const system = [agent.system, tools.some((tool) => runsInHandByName(tool.name)) ? sandboxNote : null];
  return {
    model: agent.model.id,
    effort: agent.model.effort?.type ?? profile.defaultEffort,
    system: system.filter((part) => part !== null && part !== '').join('\n\n') || null,
    tools,
    messages,
    maxOutputTokens: Math.min(profile.maxOutputTokens, deps.settings.maxOutputTokens),
    thinking: profile.thinking && request.purpose === 'turn',
    promptCaching: profile.promptCaching,
  };
}

function responded(response: ModelResponse, call: ModelCall, agent: SessionAgent, deps: HarnessDeps): Outcome {
  const { blocks, stopReason, stopDetails, usage } = response;
  const calls = classifyCalls(blocks, agent, availableTools(deps));
  const { eventIds } = call.previews;
  return { type: 'responded', startId: call.request.startId, blocks, stopReason, stopDetails, usage, eventIds, calls };
}

function compactedOrFailed(response: ModelResponse, call: ModelCall, deps: HarnessDeps): Outcome {
  const text = response.blocks.map((block) => (block.type === 'text' ? String(block.text) : '')).join('');
  const summary = summaryOf(text);
  const { startId } = call.request;
  if (summary !== null) return { type: 'compacted', startId, summary, usage: response.usage };
  return {
    type: 'model-failed',
    startId,
    retriable: false,
    tooLong: false,
    errorType: 'compaction_limit_reached_error',
    message: 'The model gave no summary of the conversation.',
    usage: response.usage,
    retryAt: deps.clock.now(),
  };
}

function failed(error: ModelError, call: ModelCall, deps: HarnessDeps): Outcome {
  const failures = turnOf(call.held.state.phase)?.failures ?? 0;
  const delayMs = retryDelayMs(failures, error.retryAfterMs, deps.clock.random());
  return {
    type: 'model-failed',
    startId: call.request.startId,
    retriable: error.retriable,
    tooLong: error.code === 'too_long',
    errorType: errorTypeOf(error),
    message: error.message,
    usage: call.previews.usage ?? (error.code === 'cut_stream' || error.code === 'silent' ? null : noTokens),
    retryAt: (deps.clock.now() + delayMs) as Instant,
  };
}

function errorTypeOf(error: ModelError): SessionErrorType {
  switch (error.code) {
    case 'overloaded':
      return 'model_overloaded_error';
    case 'rate_limited':
      return 'model_rate_limited_error';
    case 'billing':
      return 'billing_error';
    default:
      return 'model_request_failed_error';
  }
}

export function limitsOf(state: SessionState, deps: Pick<HarnessDeps, 'profileOf' | 'settings'>): TurnLimits {
  const profile = deps.profileOf(state.model);
  const maxOutputTokens = Math.min(profile.maxOutputTokens, deps.settings.maxOutputTokens);
  return {
    ...defaultTurnLimits,
    price: profile.price,
    contextWindowTokens: profile.contextWindowTokens,
    maxOutputTokens,
    maxFailures: deps.settings.maxModelFailures,
    takeover: deps.settings.takeover,
  };
}
