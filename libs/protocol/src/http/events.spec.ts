import { describe, expect, it } from 'vitest';

import { initialEventsSchema, sendEventsBodySchema } from './events.ts';
import { parseRequest } from './parse-request.ts';

const message = { type: 'user.message', content: [{ type: 'text', text: 'hi' }] };
const system = { type: 'system.message', content: [{ type: 'text', text: 'be brief' }] };
const outcome = { type: 'user.define_outcome', description: 'a poem', rubric: { type: 'text', content: 'rhymes' } };
const fileDocument = { type: 'document', source: { type: 'file', file_id: 'file_1' } };

const says = (content: unknown) => ({ type: 'user.message', content });
const files = (count: number) => says(Array.from({ length: count }, () => fileDocument));

describe('sending events', () => {
  it.each([
    ['no list', {}, 'events: Field required'],
    ['an empty list', { events: [] }, 'events: must have 1 to 1000 events'],
    [
      'another type',
      { events: [{ type: 'agent.message' }] },
      "events.0.type: must be 'user.message', 'user.interrupt', 'user.tool_confirmation', 'user.custom_tool_result', 'user.tool_result', 'user.define_outcome' or 'system.message'",
    ],
    ['content that is no list', { events: [says('hi')] }, 'events.0.content: must be a list'],
    ['no content', { events: [says([])] }, 'events.0.content: must have at least 1 block'],
    ['empty text', { events: [says([{ type: 'text', text: '' }])] }, 'events.0.content.0.text: must not be empty'],
    [
      'a redacted block',
      { events: [message, says([{ type: 'redacted' }])] },
      'events.1.content.0: redacted blocks cannot be sent',
    ],
    [
      'an unknown field of a block',
      { events: [says([{ type: 'text', text: 'a', bold: true }])] },
      'events.0.content.0.bold: Extra inputs are not permitted',
    ],
    [
      'an unknown source',
      { events: [says([{ type: 'image', source: { type: 'ftp' } }])] },
      "events.0.content.0.source.type: must be 'base64', 'url' or 'file'",
    ],
    [
      'an image of a kind that no model takes',
      { events: [says([{ type: 'image', source: { type: 'base64', data: 'AAAA', media_type: 'text/html' } }])] },
      'events.0.content.0.source.media_type: must be one of image/jpeg, image/png, image/gif, image/webp',
    ],
    [
      'an image that is no base64',
      { events: [says([{ type: 'image', source: { type: 'base64', data: '!!!', media_type: 'image/png' } }])] },
      'events.0.content.0.source.data: must be base64',
    ],
    [
      '101 documents from files',
      { events: [files(60), files(41)] },
      'events: must have at most 100 documents from files, got 101',
    ],
    [
      'a system message before others',
      { events: [system, message] },
      'events.0: system.message must be the last event',
    ],
    ['two system messages', { events: [message, system, system] }, 'events.2: at most one system.message is allowed'],
    [
      'an empty system message',
      { events: [{ ...system, content: [] }] },
      'events.0.content: must have 1 to 1000 blocks',
    ],
    [
      'a reason to allow',
      { events: [{ type: 'user.tool_confirmation', tool_use_id: 'sevt_1', result: 'allow', deny_message: 'no' }] },
      "events.0.deny_message: only allowed when result is 'deny'",
    ],
    [
      'a thread on a result',
      { events: [{ type: 'user.custom_tool_result', custom_tool_use_id: 'sevt_1', session_thread_id: 'sthr_1' }] },
      'events.0.session_thread_id: Extra inputs are not permitted',
    ],
    ['an outcome without rubric', { events: [{ ...outcome, rubric: undefined }] }, 'events.0.rubric: Field required'],
    ['21 iterations', { events: [{ ...outcome, max_iterations: 21 }] }, 'events.0.max_iterations: must be 1 to 20'],
    [
      'a long rubric',
      { events: [{ ...outcome, rubric: { type: 'text', content: 'r'.repeat(262_145) } }] },
      'events.0.rubric.content: must have 1 to 262144 characters',
    ],
  ])('refuses %s', (_, body, text) => {
    expect(parseRequest(sendEventsBodySchema, body)).toEqual({
      ok: false,
      refusal: { code: 'invalid_request', message: text },
    });
  });

  it.each([
    ['a system message after a message', [message, system]],
    ['a system message alone', [system]],
    ['100 documents from files', [files(100)]],
    ['a result without content', [{ type: 'user.custom_tool_result', custom_tool_use_id: 'sevt_1' }]],
    [
      'a result with empty text',
      [
        {
          type: 'user.custom_tool_result',
          custom_tool_use_id: 'sevt_1',
          content: [{ type: 'text', text: '' }],
          is_error: null,
        },
      ],
    ],
    [
      'a denial with a reason',
      [{ type: 'user.tool_confirmation', tool_use_id: 'sevt_1', result: 'deny', deny_message: 'no' }],
    ],
    ['an interrupt and a message', [{ type: 'user.interrupt' }, message]],
    ['an outcome', [outcome]],
  ])('accepts %s', (_, events) => {
    expect(parseRequest(sendEventsBodySchema, { events })).toEqual({ ok: true, value: { events } });
  });
});

describe('initial events', () => {
  it.each([
    ['another type', [{ type: 'user.interrupt' }], "0.type: must be 'user.message' or 'user.define_outcome'"],
    ['51 messages', Array.from({ length: 51 }, () => message), 'must have at most 50 events'],
    ['two outcomes', [outcome, outcome], '1: at most one user.define_outcome is allowed'],
    ['101 documents from files', [files(101)], 'must have at most 100 documents from files, got 101'],
  ])('refuse %s', (_, events, text) => {
    expect(parseRequest(initialEventsSchema, events)).toMatchObject({ ok: false, refusal: { message: text } });
  });

  it('may be none', () => {
    expect(parseRequest(initialEventsSchema, [])).toEqual({ ok: true, value: [] });
  });
});
