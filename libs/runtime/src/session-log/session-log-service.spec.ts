import { SystemClock } from '@manyhands/adapter-embedded';
import type { SessionLogService } from './session-log-service.ts';
import { createAgentCommand, createSessionCommand, newTestId, sendText } from '@manyhands/ports/testing';
import { afterEach, describe, expect, it } from 'vitest';
import { LogReplicas } from '../testing/log-replicas.ts';

describe('SessionLogService', () => {
  const log = new LogReplicas(new SystemClock());
  const workspaceId = newTestId('workspace');
  afterEach(() => log.stopAll());

  async function newSession(service: SessionLogService, changes = {}) {
    const command = createSessionCommand(workspaceId, changes);
    const outcome = await service.execute(command);
    expect(outcome.kind).toBe('done');
    return command.sessionId;
  }

  it('makes a session and shows its events in order', async () => {
    const service = await log.start();
    const agent = createAgentCommand(workspaceId);
    expect(await service.execute(agent)).toMatchObject({ kind: 'done', repeated: false });
    expect((await service.agent(workspaceId, agent.agentId, null))?.value).toMatchObject({
      version: 1,
      name: 'Fixture agent',
    });
    const sessionId = await newSession(service, { title: 'First' });
    expect(await service.session(workspaceId, sessionId)).toMatchObject({
      id: sessionId,
      title: 'First',
      status: 'idle',
    });
    const sent = await service.execute(sendText(workspaceId, sessionId, 'hello'));
    if (sent.kind !== 'done') throw new Error('refused');
    const events = await service.eventsOf(sessionId, sent.firstSeq, sent.lastSeq);
    expect(events).toMatchObject([{ type: 'user.message', processed_at: null }]);
    const page = await service.events(workspaceId, sessionId, {
      order: 'asc',
      limit: 10,
      after: null,
      types: null,
      createdAt: {},
    });
    expect(page?.deliveries.map(({ event }) => event.type)).toEqual([
      'session.status_running',
      'session.thread_status_running',
      'user.message',
    ]);
    expect((await service.runnable({ dueAt: log.clock.now(), limit: 10 })).map((row) => row.sessionId)).toEqual([
      sessionId,
    ]);
  });
});
