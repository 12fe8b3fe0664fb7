/** `url_sources` of `web_fetch`: which earlier content may contribute URLs. */
import type { EventId, LogRecord, UrlSources } from '@manyhands/protocol';

type Filter = UrlSources['client_tool_results'];

/** Whether a URL appears, word for word, in content that the settings let `web_fetch` take URLs from. */
export function isUrlPermitted(url: string, sources: UrlSources, records: readonly LogRecord[]): boolean {
  if (allowsAll(sources)) return true;
  const names = toolNames(records);
  return records.some(
    (record) => isSource(record, sources, names) && JSON.stringify(record.payload).includes(quoted(url)),
  );
}

function allowsAll(sources: UrlSources): boolean {
  const { client_tool_results: client, server_tool_results: server, user_input: user } = sources;
  return [client, server, user].every((filter) => filter === null || filter.type === 'all');
}

function quoted(url: string): string {
  return JSON.stringify(url).slice(1, -1);
}

function isSource(record: LogRecord, sources: UrlSources, names: ReadonlyMap<EventId, string>): boolean {
  switch (record.kind) {
    case 'user.message':
      return sources.user_input?.type !== 'none';
    case 'user.custom_tool_result':
      return admits(sources.client_tool_results, names.get(record.facets.toolUseId));
    case 'agent.tool_result': {
      const name = names.get(record.facets.toolUseId);
      const fromWeb = name === 'web_fetch' || name === 'web_search';
      return fromWeb && admits(sources.server_tool_results, name);
    }
    default:
      return false;
  }
}

function admits(filter: Filter, name: string | undefined): boolean {
  if (filter === null || filter.type === 'all') return true;
  if (filter.type === 'none' || name === undefined) return false;
  const named = filter.tools.some((tool) => tool.name === name);
  return filter.type === 'only' ? named : !named;
}

/** Names of the tools behind the call events, from the responses they stand in. */
function toolNames(records: readonly LogRecord[]): Map<EventId, string> {
  const responses = new Map(records.map((record) => [record.seq, record]));
  const names = new Map<EventId, string>();
  for (const record of records) {
    if (record.kind !== 'agent.tool_use' && record.kind !== 'agent.custom_tool_use') continue;
    const response = responses.get(record.facets.responseSeq);
    const block = response?.kind === 'model.response' ? response.payload.blocks[record.facets.block] : undefined;
    if (block) names.set(record.id, String(block.name));
  }
  return names;
}
