/** Requests are parsed once, at the rim; behind it values are trusted. */
import { isId, parseRequest, type IdKind, type IdOf } from '@manyhands/protocol';
import type { z } from 'zod';

import { ApiError, refuse } from './api-error.ts';

export function parseBody<S extends z.ZodType>(schema: S, body: unknown): z.output<S> {
  if (body === undefined || body === null) throw new ApiError('invalid_request', 'The request body must be JSON.');
  return parse(schema, body);
}

export function parseQuery<S extends z.ZodType>(schema: S, query: unknown): z.output<S> {
  return parse(schema, query);
}

function parse<S extends z.ZodType>(schema: S, raw: unknown): z.output<S> {
  const parsed = parseRequest(schema, raw);
  return parsed.ok ? parsed.value : refuse(parsed.refusal);
}

/** What has not the form of an id names nothing: the answer is the one for an unknown id. */
export function parseId<K extends Exclude<IdKind, 'environment'>>(kind: K, value: string): IdOf[K] {
  return isId(kind, value) ? value : notFound(kind);
}

export function parseEnvironmentId(value: string): IdOf['environment'] {
  return isId('environment', value) ? value : environmentNotFound();
}

export function notFound(what: string): never {
  throw new ApiError('not_found', `There is no ${what} with this id.`);
}

export function environmentNotFound(): never {
  throw new ApiError('environment_not_found', 'There is no environment with this id.');
}

export function found<T>(value: T | null, what: string): T {
  return value === null ? notFound(what) : value;
}

export function foundEnvironment<T>(value: T | null): T {
  return value === null ? environmentNotFound() : value;
}

export function refuseUnsupported(message: string | null): void {
  if (message !== null) throw new ApiError('not_supported', message);
}
