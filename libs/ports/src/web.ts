import type { ToolResultContent } from '@manyhands/protocol';

export interface WebFetchRequest {
  url: string;
  allowedDomains: readonly string[] | null;
  blockedDomains: readonly string[] | null;
  /** About 4 characters a token. */
  maxContentTokens: number | null;
}

/** A tool's answer as the model sees it: a failure is content with `isError`, never a throw. */
export interface ToolAnswer {
  isError: boolean;
  content: ToolResultContent[];
}

/** `web_fetch`, run beside the egress proxy and under the same address rules. */
export interface WebFetch {
  fetch(request: WebFetchRequest, signal: AbortSignal): Promise<ToolAnswer>;
}

export interface WebSearchRequest {
  query: string;
  allowedDomains: readonly string[] | null;
  blockedDomains: readonly string[] | null;
  userLocation: Record<string, unknown> | null;
}

/** `web_search`; no provider configured means the tool is not offered. */
export interface WebSearch {
  search(request: WebSearchRequest, signal: AbortSignal): Promise<ToolAnswer>;
}
