/** What the model reads when a page could not be had; the codes are those of the Messages API's own tool. */
export type WebFetchErrorCode =
  | 'invalid_tool_input'
  | 'url_too_long'
  | 'url_not_allowed'
  | 'url_not_accessible'
  | 'unsupported_content_type'
  | 'unavailable';

export class WebFetchError extends Error {
  readonly code: WebFetchErrorCode;

  constructor(code: WebFetchErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'WebFetchError';
    this.code = code;
  }
}
