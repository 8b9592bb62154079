// Tests: test/contract/sms-messages.test.ts, test/contract/messaging-messages.test.ts
import { Type } from 'typebox';
import { answerOnce } from '../http/answer-once.ts';
import { nullable, pageQuery, pageSchema, pathParameter, readPage, toPage } from '../http/list-page.ts';
import { type Call, type Reply, type Route, requireApplication, route } from '../http/route.ts';
import { isMessage, type KeepOutcomes } from './acceptance.ts';
import type { Message } from './message.ts';
import { createBatchRoute } from './message-batch-api.ts';
import { canceledMessage, queuedMessage } from './message-examples.ts';
import { messageFilters, messageSchema, segmentsSchema, toMessageRecord } from './message-record.ts';
import type { MessageRoutesOptions } from './message-routes-options.ts';
import { readNumberFilter } from './numbers/phone-number.ts';
import { readSend, type SendBody, sendRefusals } from './send-rules.ts';
import { offenders, smartEncode } from './text/smart-encoding.ts';
import { measure } from './text/text.ts';

const params = Type.Object({ id: pathParameter });

/** Generated clients name each API's operations by themselves. */
const operationIds = {
  sms: { send: 'sendSms', preview: 'previewSms', list: 'listSms', get: 'getSms', cancel: 'cancelSms' },
  messaging: {
    send: 'sendMessage',
    preview: 'previewMessage',
    list: 'listMessages',
    get: 'getMessage',
    cancel: 'cancelMessage',
  },
};

/** Send, read, list, cancel and preview for both APIs. Each API sees only the messages sent through it. */
export function createMessageRoutes(options: MessageRoutesOptions): Route[] {
  const { api, base, auth, tag, created, messages, idempotency, rules } = options;
  const shared = { auth, tag };
  const names = operationIds[api];

  function answerOf(message: Message) {
    return { status: created, body: JSON.stringify(toMessageRecord(message)), location: `${base}/${message.id}` };
  }

  function send(call: Call<unknown, unknown, SendBody>): Promise<Reply> {
    const { applicationId, highPriority, rights } = requireApplication(call);
    const spender = { applicationId, segmentsPerDay: rights.segmentsPerDay };
    return answerOnce(idempotency, call, async (keep) => {
      const context = { applicationId, rights, api, correlationId: call.correlationId, trace: call.trace };
      const message = messages.prepare(readSend(call.body, { api, highPriority, rights }), context);
      if (!isMessage(message)) throw await messages.refusalOf(message, spender);
      // Nearly always the message is written as it was prepared, so its answer is made once and reused.
      const prepared = answerOf(message);
      const toAnswer = (written: Message) => (written === message ? prepared : answerOf(written));
      const toKeep: KeepOutcomes = ([written = message]) => (isMessage(written) ? keep(toAnswer(written)) : undefined);
      const [outcome = message] = await messages.accept(spender, [message], toKeep, call.trace);
      if (!isMessage(outcome)) throw outcome;
      return toAnswer(outcome);
    });
  }

  return [
    route({
      ...shared,
      method: 'POST',
      path: base,
      operationId: names.send,
      summary: 'Send a text',
      description:
        'The service answers when the text is stored, and then sends it once, also after a restart. Read the message or the events to see whether it was delivered. With an `Idempotency-Key` a repeated request sends nothing twice.',
      body: rules[api],
      idempotent: true,
      answers: {
        [created]: {
          description: 'Accepted and stored',
          schema: messageSchema,
          headers: ['Location'],
          example: queuedMessage,
        },
      },
      refuses: sendRefusals[api],
      handler: send,
    }),
    route({
      ...shared,
      method: 'POST',
      path: `${base}/preview`,
      operationId: names.preview,
      summary: 'Preview a text without sending it',
      description:
        'Shows how many segments the text takes, which characters make it longer, and what `smart_encoding` would save. It costs nothing.',
      body: rules.preview,
      idempotent: true,
      answers: {
        200: { description: 'Its segments, and the characters that are not in GSM-7', schema: previewAnswer },
      },
      handler: (call) =>
        answerOnce(idempotency, call, async (keep) => {
          const { message } = call.body;
          const body = {
            segments: measure(message),
            offenders: offenders(message, mostOffenders),
            with_smart_encoding: measure(smartEncode(message)),
          };
          const answer = { status: 200, body: JSON.stringify(body), location: null };
          const kept = keep(answer);
          const { applicationId } = requireApplication(call);
          if (kept !== undefined) await messages.accept({ applicationId, segmentsPerDay: null }, [], () => kept);
          return answer;
        }),
    }),
    route({
      ...shared,
      method: 'GET',
      path: base,
      operationId: names.list,
      summary: 'List messages, newest first',
      description: 'A page has up to 100 messages. Go on with `cursor`: the `next_cursor` of the page before.',
      bulkhead: 'side',
      shared: true,
      query: Type.Object({ ...messageFilters, ...pageQuery }),
      answers: { 200: { description: 'A page of messages', schema: pageSchema(messageSchema) } },
      handler: async (call) => {
        const { limit, after } = readPage(call.query);
        const { applicationId } = requireApplication(call);
        const filter = { ...call.query, to: readNumberFilter(call.query.to) };
        const { rows, searchedTo } = await messages.list(applicationId, api, filter, { limit: limit + 1, after });
        return { status: 200, body: toPage(rows, limit, toMessageRecord, searchedTo) };
      },
    }),
    route({
      ...shared,
      method: 'GET',
      path: `${base}/{id}`,
      operationId: names.get,
      summary: 'Read a message',
      description: 'The status is `delivered` once the phone has it, where the carrier reports that.',
      params,
      answers: { 200: { description: 'The message as it is now', schema: messageSchema } },
      handler: async (call) => {
        const message = await messages.require(requireApplication(call).applicationId, api, call.params.id);
        return { status: 200, body: toMessageRecord(message) };
      },
    }),
    route({
      ...shared,
      method: 'DELETE',
      path: `${base}/{id}`,
      operationId: names.cancel,
      summary: 'Cancel a scheduled or queued message',
      description: 'A message that a carrier has taken cannot be called back: that is a 409.',
      params,
      answers: {
        200: {
          description: 'The canceled message',
          schema: messageSchema,
          example: canceledMessage,
        },
      },
      refuses: { INCOMPATIBLE_STATE: 'The message is no longer scheduled or queued' },
      handler: async (call) => {
        const message = await messages.cancel(requireApplication(call).applicationId, api, call.params.id);
        return { status: 200, body: toMessageRecord(message) };
      },
    }),
    ...(api === 'messaging' ? [createBatchRoute(options)] : []),
  ];
}

/** One offender makes a text UCS-2; a hundred are enough to show the caller what to change. */
const mostOffenders = 100;

const previewAnswer = Type.Object(
  {
    segments: segmentsSchema,
    offenders: Type.Array(
      Type.Object({
        character: Type.String({ examples: ['’'] }),
        index: Type.Integer({ description: 'Its place in the text, in UTF-16 units', examples: [4] }),
        substitute: nullable(Type.String({ description: 'What smart_encoding writes instead', examples: ["'"] })),
      }),
      { description: `The first ${mostOffenders} characters that are not in GSM-7` },
    ),
    with_smart_encoding: segmentsSchema,
  },
  { title: 'Preview' },
);
