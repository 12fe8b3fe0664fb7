/** One tool call: from its event to an outcome. A tool's failure is content for the model, never a failed turn. */
import type { Outcome, ToolCall } from '@manyhands/core';
import { builtinConfig, charsOf, isUrlPermitted, runsInHand } from '@manyhands/core';
import type { ToolAnswer } from '@manyhands/ports';
import type { LogRecord, ModelBlock, SessionAgent, ToolResultContent } from '@manyhands/protocol';
import type { HarnessDeps } from './deps.ts';
import type { OpenHands } from './hands.ts';
import type { HeldSession } from './held-session.ts';

export interface RunningCall {
  held: HeldSession;
  call: ToolCall;
  hands: OpenHands;
  signal: AbortSignal;
}

/** null when it was aborted; `fenced` when the hand has seen a later lease. */
export async function executeTool(running: RunningCall, deps: HarnessDeps): Promise<Outcome | 'fenced' | null> {
  deps.counters.toolCalls++;
  const input = inputOf(running.held.prompt.records, running.call);
  if (!input) return answer(running, failure('The input of this call is not an object.'));
  if (runsInHand(running.call)) return executeInHand(running, input, deps);
  const result = await answerFromWeb(running, input, deps);
  return running.signal.aborted ? null : answer(running, result);
}

async function executeInHand(
  running: RunningCall,
  input: Record<string, unknown>,
  deps: HarnessDeps,
): Promise<Outcome | 'fenced' | null> {
  const { call, held, hands, signal } = running;
  const name = call.tool as Exclude<ToolCall['tool'], 'custom' | null>;
  const outcome = await hands.execute(held.state, { executionId: call.eventId, name, input }, signal);
  if (signal.aborted) return null;
  switch (outcome.kind) {
    case 'fenced':
      return 'fenced';
    case 'failed':
      return answer(running, failure(outcome.message));
    case 'finished':
      return answer(running, outcome.execution, outcome.ref);
    case 'lost': {
      deps.counters.handsLost++;
      const { hand, generation } = outcome.ref;
      return { type: 'hand-lost', toolUseId: call.eventId, started: outcome.started, hand, generation };
    }
  }
}

async function answerFromWeb(
  running: RunningCall,
  input: Record<string, unknown>,
  deps: HarnessDeps,
): Promise<ToolAnswer> {
  const { held, call, signal } = running;
  const agent = await held.prompt.agent(deps.log, held.state);
  try {
    if (call.tool === 'web_fetch') return await fetchPage(held, agent, input, deps, signal);
    if (call.tool === 'web_search' && deps.webSearch) {
      const config = builtinConfig(agent, 'web_search');
      const domains = {
        allowedDomains: config?.allowed_domains ?? null,
        blockedDomains: config?.blocked_domains ?? null,
      };
      const userLocation = config?.user_location ?? null;
      return await deps.webSearch.search(
        { query: typeof input.query === 'string' ? input.query : '', ...domains, userLocation },
        signal,
      );
    }
    return failure('This tool is not available.');
  } catch (error) {
    deps.logger.warn({ tool: call.tool, error: String(error) }, 'a web tool failed');
    return failure('The request failed.');
  }
}

async function fetchPage(
  held: HeldSession,
  agent: SessionAgent,
  input: Record<string, unknown>,
  deps: HarnessDeps,
  signal: AbortSignal,
): Promise<ToolAnswer> {
  const config = builtinConfig(agent, 'web_fetch');
  const url = typeof input.url === 'string' ? input.url : '';
  if (url === '') return failure('url is missing.');
  if (config?.url_sources && !isUrlPermitted(url, config.url_sources, held.prompt.records)) {
    return failure(`url_not_allowed: ${url} does not appear in any content that web_fetch may take URLs from.`);
  }
  return deps.webFetch.fetch(
    {
      url,
      allowedDomains: config?.allowed_domains ?? null,
      blockedDomains: config?.blocked_domains ?? null,
      maxContentTokens: config?.max_content_tokens ?? null,
    },
    signal,
  );
}

function inputOf(records: readonly LogRecord[], call: ToolCall): Record<string, unknown> | null {
  const use = records.findLast((record) => record.seq === call.seq);
  if (use?.kind !== 'agent.tool_use') return null;
  const response = records.findLast((record) => record.seq === use.facets.responseSeq);
  const block: ModelBlock | undefined =
    response?.kind === 'model.response' ? response.payload.blocks[use.facets.block] : undefined;
  const input = block?.input;
  return typeof input === 'object' && input !== null ? (input as Record<string, unknown>) : null;
}

function failure(text: string): ToolAnswer {
  return { isError: true, content: [{ type: 'text', text }] };
}

function answer(
  running: RunningCall,
  result: { isError: boolean; content: ToolResultContent[] },
  ref: { hand: string; generation: number } | null = null,
): Outcome {
  const { isError, content } = result;
  const hand = ref && { hand: ref.hand, generation: ref.generation };
  return { type: 'tool-answered', toolUseId: running.call.eventId, isError, content, chars: charsOf(content), hand };
}
