/**
 * Holds our schemas against the types of the SDK, field by field and in both directions. Everything here is checked by
 * tsc; at run time there is nothing to do. An SDK update that adds, removes or renames an event type, a field or an enum
 * value makes this file fail to compile, with the difference in the message.
 */
import type * as SdkAgents from '@anthropic-ai/sdk/resources/beta/agents/agents';
import type * as SdkVersions from '@anthropic-ai/sdk/resources/beta/agents/versions';
import type * as SdkBeta from '@anthropic-ai/sdk/resources/beta/beta';
import type * as SdkEnvironments from '@anthropic-ai/sdk/resources/beta/environments/environments';
import type * as SdkEvents from '@anthropic-ai/sdk/resources/beta/sessions/events';
import type * as SdkResources from '@anthropic-ai/sdk/resources/beta/sessions/resources';
import type * as SdkSessions from '@anthropic-ai/sdk/resources/beta/sessions/sessions';
import type * as SdkThreadEvents from '@anthropic-ai/sdk/resources/beta/sessions/threads/events';
import type * as SdkThreads from '@anthropic-ai/sdk/resources/beta/sessions/threads/threads';
import type { ErrorType } from '@anthropic-ai/sdk/resources/shared';
import { describe, it } from 'vitest';
import type { z } from 'zod';

import type { WireErrorType } from './error-codes.ts';
import type { Agent, createAgentBodySchema, updateAgentBodySchema } from './http/agents.ts';
import type {
  createEnvironmentBodySchema,
  DeletedEnvironment,
  Environment,
  updateEnvironmentBodySchema,
} from './http/environments.ts';
import type { sendEventsBodySchema, SentEvents } from './http/events.ts';
import type { ModelConfig } from './http/model-config.ts';
import type * as paging from './http/paging.ts';
import type { SessionResource, SessionResourceParams } from './http/resources.ts';
import type { createSessionBodySchema, DeletedSession, Session, updateSessionBodySchema } from './http/sessions.ts';
import type { SessionThread } from './http/threads.ts';
import type { BuiltinToolName, Tool } from './http/tools.ts';
import type {
  listableEventTypes,
  persistedEventTypes,
  PreviewableEventType,
  SessionEvent,
  SessionEventType,
  StreamedEvent,
} from './session-event.ts';

/**
 * Every field at every depth, as text: `<agent>.model.id`. An object with a `type` is named by it, so that a field that
 * moves from one variant of a union to another is seen.
 */
type Paths<T> = T extends unknown
  ? unknown extends T
    ? ''
    : T extends string | number | boolean | null | undefined
      ? ''
      : T extends readonly (infer Item)[]
        ? `[]${Paths<Item>}`
        : { [K in keyof T & string]-?: `${Tag<T>}.${K}${Paths<T[K]>}` | `${Tag<T>}.${K}` }[keyof T & string]
  : never;
type Tag<T> = T extends { type: infer Name extends string } ? `<${Name}>` : '';

/** Without null at any depth. Requests take null for "absent" in more places than the SDK's types offer. */
type WithoutNull<T> = T extends null
  ? never
  : unknown extends T
    ? T
    : T extends string | number | boolean | undefined
      ? T
      : T extends readonly (infer Item)[]
        ? WithoutNull<Item>[]
        : { [K in keyof T]: WithoutNull<T[K]> };

interface Comparison<Ours, Sdk> {
  oursFitsTheSdk: [Ours] extends [Sdk] ? true : false;
  theSdkFitsOurs: [Sdk] extends [Ours] ? true : false;
  onlyTheSdkHas: Exclude<Paths<Sdk>, Paths<Ours>>;
  onlyWeHave: Exclude<Paths<Ours>, Paths<Sdk>>;
}
interface Same {
  oursFitsTheSdk: true;
  theSdkFitsOurs: true;
  onlyTheSdkHas: never;
  onlyWeHave: never;
}

/** Compiles when both types are the same to a caller. */
function same<_ extends Same>(): void {}

/** Headers in the guise of parameters. */
type Body<T> = Omit<T, 'betas' | 'workspace_id'>;
/** What a client may send: everything the SDK can express, and null where we are more generous. */
type Request<Ours, Sdk> = Omit<Comparison<WithoutNull<Ours>, WithoutNull<Body<Sdk>>>, 'theSdkFitsOurs'> & {
  theSdkFitsOurs: Comparison<Ours, Body<Sdk>>['theSdkFitsOurs'];
};

/** A query's names as they are written in a URL. */
type QueryNames<Q> = {
  [K in keyof Q & string]: K extends 'created_at' ? `created_at[${keyof NonNullable<Q[K]> & string}]` : K;
}[keyof Q & string];
type Names<Ours, Theirs> = Comparison<{ [K in QueryNames<Ours>]: 0 }, { [K in keyof Body<Theirs>]-?: 0 }>;
type Values<Ours, Theirs> = Comparison<NonNullable<Ours>, NonNullable<Theirs>>;

describe('types of SDK and protocol', () => {
  it('are the same for agents', () => {
    same<Comparison<Agent, SdkAgents.BetaManagedAgentsAgent>>();
    same<Comparison<Tool, SdkAgents.BetaManagedAgentsAgent['tools'][number]>>();
    same<Comparison<BuiltinToolName, SdkAgents.BetaManagedAgentsAgentToolConfig['name']>>();
    same<Comparison<ModelConfig, SdkAgents.BetaManagedAgentsModelConfig>>();
    same<Request<z.input<typeof createAgentBodySchema>, SdkAgents.AgentCreateParams>>();
    same<Request<z.input<typeof updateAgentBodySchema>, SdkAgents.AgentUpdateParams>>();
    same<Names<paging.ListAgentsQuery, SdkAgents.AgentListParams>>();
    same<Names<paging.GetAgentQuery, SdkAgents.AgentRetrieveParams>>();
    same<Names<paging.ListAgentVersionsQuery, SdkVersions.VersionListParams>>();
  });

  it('are the same for environments', () => {
    same<Comparison<Environment, SdkEnvironments.BetaEnvironment>>();
    same<Comparison<DeletedEnvironment, SdkEnvironments.BetaEnvironmentDeleteResponse>>();
    same<Request<z.input<typeof createEnvironmentBodySchema>, SdkEnvironments.EnvironmentCreateParams>>();
    same<Request<z.input<typeof updateEnvironmentBodySchema>, SdkEnvironments.EnvironmentUpdateParams>>();
    same<Names<paging.ListEnvironmentsQuery, SdkEnvironments.EnvironmentListParams>>();
  });

  it('are the same for sessions, but for our stop_reason', () => {
    same<Comparison<Omit<Session, 'stop_reason'>, SdkSessions.BetaManagedAgentsSession>>();
    same<Comparison<DeletedSession, SdkSessions.BetaManagedAgentsDeletedSession>>();
    same<Request<z.input<typeof createSessionBodySchema>, SdkSessions.SessionCreateParams>>();
    same<Request<z.input<typeof updateSessionBodySchema>, SdkSessions.SessionUpdateParams>>();
    same<Names<paging.ListSessionsQuery, SdkSessions.SessionListParams>>();
    same<Values<paging.ListSessionsQuery['statuses'], SdkSessions.SessionListParams['statuses']>>();
    same<Values<paging.ListSessionsQuery['order'], SdkSessions.SessionListParams['order']>>();
    same<Comparison<SessionResource, SdkResources.BetaManagedAgentsSessionResource>>();
    same<Comparison<SessionResourceParams, NonNullable<SdkSessions.SessionCreateParams['resources']>[number]>>();
  });

  it('are the same for threads', () => {
    same<Comparison<SessionThread, SdkThreads.BetaManagedAgentsSessionThread>>();
    same<Names<paging.ListThreadsQuery, SdkThreads.ThreadListParams>>();
    same<Values<paging.ListThreadsQuery['statuses'], SdkThreads.ThreadListParams['statuses']>>();
    same<Names<paging.ListThreadEventsQuery, Omit<SdkThreadEvents.EventListParams, 'session_id'>>>();
    same<Names<paging.StreamEventsQuery, Omit<SdkThreadEvents.EventStreamParams, 'session_id'>>>();
  });

  it('are the same for events', () => {
    same<Comparison<SessionEvent, SdkEvents.BetaManagedAgentsSessionEvent>>();
    same<Comparison<StreamedEvent, SdkEvents.BetaManagedAgentsStreamSessionEvents>>();
    same<Comparison<StreamedEvent, SdkThreads.BetaManagedAgentsStreamSessionThreadEvents>>();
    // The SDK lets `data` be absent; we always send it.
    same<Comparison<SentEvents, Required<SdkEvents.BetaManagedAgentsSendSessionEvents>>>();
    same<Request<z.input<typeof sendEventsBodySchema>, SdkEvents.EventSendParams>>();
    same<Comparison<(typeof persistedEventTypes)[number], SessionEventType>>();
    same<Comparison<(typeof listableEventTypes)[number], SdkEvents.BetaManagedAgentsSessionEventType>>();
    same<Comparison<PreviewableEventType, SdkSessions.BetaManagedAgentsDeltaType>>();
    same<Names<paging.ListEventsQuery, SdkEvents.EventListParams>>();
    same<Values<paging.ListEventsQuery['order'], SdkEvents.EventListParams['order']>>();
    same<Values<paging.ListEventsQuery['types'], SdkEvents.EventListParams['types']>>();
    same<Names<paging.StreamEventsQuery, SdkEvents.EventStreamParams>>();
    same<Values<paging.StreamEventsQuery['event_deltas'], SdkEvents.EventStreamParams['event_deltas']>>();
  });

  it('differ in error types by exactly what we leave out and what the SDK does not list', () => {
    same<Comparison<Exclude<WireErrorType, ErrorType>, 'request_too_large'>>();
    // Billing is not ours; the memory errors come with memory stores.
    type LeftOut = 'billing_error' | 'memory_precondition_failed_error' | 'memory_path_conflict_error';
    same<Comparison<Exclude<ErrorType, WireErrorType>, LeftOut>>();
    same<Comparison<'USD', SdkBeta.BetaCurrency>>();
  });

  it('are seen to differ', () => {
    // @ts-expect-error the SDK has a field that we lack
    same<Comparison<Omit<Agent, 'description'>, SdkAgents.BetaManagedAgentsAgent>>();
    // @ts-expect-error the SDK has an optional field that we lack, deep down
    same<Comparison<Agent, SdkAgents.BetaManagedAgentsAgent & { model: { planted?: string } }>>();
    // @ts-expect-error we have a field that the SDK lacks
    same<Comparison<Session, SdkSessions.BetaManagedAgentsSession>>();
    // @ts-expect-error the SDK has an event that we lack
    same<Comparison<Exclude<SessionEvent, { type: 'session.error' }>, SdkEvents.BetaManagedAgentsSessionEvent>>();
    // @ts-expect-error the SDK can send what we refuse
    same<Request<{ name: string }, { name: string | number }>>();
    // @ts-expect-error we accept what the SDK cannot send
    same<Request<{ name: string | number }, { name: string }>>();
    // @ts-expect-error the SDK has a parameter that we lack
    same<Names<paging.ListAgentsQuery, SdkAgents.AgentListParams & { planted?: string }>>();
  });
});
