/** Client events as the log's commands take them. */
import {
  enablesWebSearchExplicitly,
  type ClientEvent,
  type EventId,
  type EventParams,
  type ThreadId,
  type ToolParams,
} from '@manyhands/protocol';

import { ApiError } from './api-error.ts';

export function clientEvents(events: readonly EventParams[]): ClientEvent[] {
  return events.map(clientEvent);
}

/** Ids are passed on as they are: whether they name an open call or a thread is decided beside the state. */
function clientEvent(event: EventParams): ClientEvent {
  switch (event.type) {
    case 'user.message':
    case 'system.message':
      return event;
    case 'user.interrupt':
      return { type: event.type, sessionThreadId: (event.session_thread_id ?? null) as ThreadId | null };
    case 'user.tool_confirmation':
      return {
        type: event.type,
        toolUseId: event.tool_use_id as EventId,
        result: event.result,
        denyMessage: event.deny_message ?? null,
      };
    case 'user.custom_tool_result':
      return {
        type: event.type,
        toolUseId: event.custom_tool_use_id as EventId,
        isError: event.is_error ?? undefined,
        content: event.content,
      };
    case 'user.tool_result':
      throw new ApiError(
        'not_supported',
        'user.tool_result is for self-hosted environments, which are not supported yet',
      );
    case 'user.define_outcome':
      throw new ApiError('not_supported', 'user.define_outcome: outcomes are not supported yet');
  }
}

/**
 * The body with what this server has no provider for switched off in words, so that responses say what a session really
 * gets and may be sent back as they are. Asked for by name it is refused: it must not be missing in silence.
 */
export function withAvailableTools<T extends { tools?: readonly ToolParams[] | null }>(
  body: T,
  hasWebSearch: boolean,
): T {
  if (hasWebSearch || !body.tools) return body;
  if (enablesWebSearchExplicitly(body.tools)) {
    const message = 'tools: web_search is enabled, but this server has no search provider configured';
    throw new ApiError('web_search_unavailable', message);
  }
  return { ...body, tools: body.tools.map(withoutWebSearch) };
}

function withoutWebSearch(tool: ToolParams): ToolParams {
  if (tool.type !== 'agent_toolset_20260401') return tool;
  const own = tool.configs?.find((config) => config.name === 'web_search');
  const others = tool.configs?.filter((config) => config.name !== 'web_search') ?? [];
  return { ...tool, configs: [...others, { ...own, name: 'web_search', enabled: false }] };
}
