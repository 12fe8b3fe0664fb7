/** What must hold of one session's history when the run is over. */
import { evolveSession, openCalls } from '@manyhands/core';
import type { SessionState } from '@manyhands/core';
import type { EventId, Incarnation, LogRecord, Seq, SessionLogRecord } from '@manyhands/protocol';
import type { Client } from './client.ts';
import { ghostId } from './faults.ts';
import type { Writers } from './oracle.ts';
import { doneText, scriptText } from './script.ts';
import { must } from './violations.ts';

export interface HistoryOf {
  client: Client;
  writers: Writers;
  mayGiveUp: boolean;
}

export function checkHistory(records: readonly SessionLogRecord[], { client, writers, mayGiveUp }: HistoryOf): void {
  checkPlaces(records);
  const state = checkFold(records);
  checkOrder(records);
  checkCalls(records);
  checkLease(records, writers);
  checkRequests(records, client);
  checkEnd(records, state, client);
  const isGivenUp = records.some(
    (record) => record.kind === 'session.error' && record.facets.retryStatus === 'exhausted',
  );
  must(mayGiveUp || !isGivenUp, 'a turn was given up');
  if (!isGivenUp) checkLastAnswer(records, client);
}

/** L5, L8. */
function checkPlaces(records: readonly LogRecord[]): void {
  records.forEach(({ seq, time }, index) => {
    must(seq === index + 1, `seq ${seq} stands at place ${index + 1} (L5)`);
    must(time >= (records[index - 1]?.time ?? 0), `time runs backwards at seq ${seq} (L8)`);
  });
}

function checkFold(records: readonly SessionLogRecord[]): SessionState {
  let state: SessionState | null = null;
  for (const record of records) state = evolveSession(state, record);
  must(state !== null, 'the history is empty');
  return state;
}

/** Contract 3.4. */
function checkOrder(records: readonly SessionLogRecord[]): void {
  const content = new Set<string>(['model.response', 'agent.message', 'agent.tool_use', 'agent.custom_tool_use']);
  let span: EventId | null = null;
  let firstThreadStatus: string | null = null;
  records.forEach((record, index) => {
    const before = records[index - 1]?.kind;
    if (record.kind === 'session.status_idle')
      must(before === 'session.usage', `no usage before the idle ${record.seq}`);
    if (record.kind === 'session.usage')
      must(before === 'session.thread_status_idle', `usage without idle at ${record.seq}`);
    if (record.kind === 'session.thread_status_running')
      must(before === 'session.status_running', 'thread before session');
    if (record.kind === 'span.model_request_start') {
      must(span === null, `a span within a span at ${record.seq}`);
      span = record.id;
    } else if (record.kind === 'span.model_request_end') {
      must(record.facets.startId === span, `the end of another span at ${record.seq}`);
      span = null;
    } else if (content.has(record.kind)) must(span !== null, `${record.kind} outside a span at ${record.seq}`);
    else if (record.kind === 'agent.tool_result') must(span === null, `a tool result within a span at ${record.seq}`);
    if (record.kind.startsWith('session.thread_status')) firstThreadStatus ??= record.kind;
  });
  must(span === null, 'a span has no end');
  const statuses = [null, 'session.thread_status_running', 'session.thread_status_terminated'];
  must(statuses.includes(firstThreadStatus), `the first thread status is ${firstThreadStatus}`);
}

/** Every call has exactly one result, after it. */
function checkCalls(records: readonly SessionLogRecord[]): void {
  const results = new Map<EventId, Seq[]>();
  for (const record of records) {
    if (record.kind !== 'agent.tool_result' && record.kind !== 'user.custom_tool_result') continue;
    const { toolUseId } = record.facets;
    results.set(toolUseId, [...(results.get(toolUseId) ?? []), record.seq]);
  }
  for (const record of records) {
    if (record.kind !== 'agent.tool_use' && record.kind !== 'agent.custom_tool_use') continue;
    const seqs = results.get(record.id) ?? [];
    must(seqs.length === 1, `the call ${record.id} has ${seqs.length} results`);
    must((seqs[0] ?? 0) > record.seq, `the call ${record.id} is answered before it is made`);
  }
}

const ofHolders = /^(lease|model|span|agent|input|hand|context)\./;

/** L3: while a lease stands, only its holder writes what holders write. */
function checkLease(records: readonly SessionLogRecord[], writers: Writers): void {
  let holder: Incarnation | null = null;
  for (const record of records) {
    must(record.id !== ghostId, `a commit of an older epoch was accepted at ${record.seq} (L3)`);
    if (record.kind === 'lease.taken') holder = record.facets.incarnation;
    const isHolders = ofHolders.test(record.kind);
    if (isHolders && holder !== null) {
      const writer = writers.of(record.id);
      must(writer === holder, `${record.kind} at ${record.seq} is by ${writer}, but ${holder} has the lease (L3)`);
    }
    if (record.kind === 'lease.released') holder = null;
  }
}

/** Events of every accepted request are there exactly once, those of refused ones not at all (L4). */
function checkRequests(records: readonly SessionLogRecord[], client: Client): void {
  const texts = records.flatMap((record) => (record.kind === 'user.message' ? [textOf(record)] : []));
  for (const { firstSeq, lastSeq, kinds, script } of client.accepted) {
    const written = records.slice(firstSeq - 1, lastSeq).map((record) => record.kind as string);
    for (const kind of kinds) must(written.includes(kind), `${kind} is not among the records ${firstSeq}–${lastSeq}`);
    if (script)
      must(
        count(texts, scriptText(script)) === 1,
        `the message ${script.name} is there ${count(texts, scriptText(script))} times`,
      );
  }
  must(texts.length === new Set(texts).size, 'a message is there twice');
  const sent = interruptsAmong(client.accepted.map(({ kinds }) => kinds));
  const perhaps = interruptsAmong(client.uncertain);
  const interrupts = records.filter((record) => record.kind === 'user.interrupt').length;
  must(interrupts >= sent && interrupts <= sent + perhaps, `${interrupts} interrupts are there, ${sent} were accepted`);
  for (const name of client.refused)
    must(!texts.some((text) => text.includes(`"${name}"`)), `the refused ${name} is there`);
}

/** Nothing is left to do. */
function checkEnd(records: readonly SessionLogRecord[], state: SessionState, client: Client): void {
  const { phase } = state;
  must(phase.status === (client.end === 'archived' ? 'terminated' : 'idle'), `the session ends ${phase.status}`);
  must(openCalls(state).length === 0, 'the session ends with open calls');
  must(
    state.queue.every((input) => input.kind === 'system.message'),
    'the session ends with inputs that wait',
  );
  must(state.lease === null, 'the session ends with a lease');
}

/** The session ends where its script ends: the last message was answered to its end, unless an interrupt came after it. */
function checkLastAnswer(records: readonly SessionLogRecord[], client: Client): void {
  const last = client.accepted.findLast(({ kinds }) =>
    kinds.some((kind) => kind !== 'user.tool_confirmation' && kind !== 'user.custom_tool_result'),
  );
  if (!last?.script || client.uncertain.length > 0) return;
  const response = records.findLast((record) => record.kind === 'model.response');
  const words = response?.payload.blocks.map((block) => block['text']) ?? [];
  must(words.includes(doneText(last.script.name)), `the last message ${last.script.name} was not answered to its end`);
}

function interruptsAmong(requests: readonly (readonly string[])[]): number {
  return requests.flat().filter((kind) => kind === 'user.interrupt').length;
}

function textOf(record: LogRecord<'user.message'>): string {
  const block = record.payload.content[0];
  return block && 'text' in block ? block.text : '';
}

function count(texts: readonly string[], text: string): number {
  return texts.filter((other) => other === text).length;
}
