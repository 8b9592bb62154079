// Tests: test/contract/message-batch.test.ts
import { Type } from 'typebox';
import { answerOnce } from '../http/answer-once.ts';
import { fieldProblemSchema } from '../http/error-reply.ts';
import { itemKeyword, problemsOf } from '../http/request/validation.ts';
import { type Route, requireApplication, route } from '../http/route.ts';
import type { KeptAnswer } from '../platform/database/idempotency.ts';
import { ApiError } from '../platform/errors.ts';
import { isMessage, type KeepOutcomes, type SendOutcome } from './acceptance.ts';
import { queuedMessage } from './message-examples.ts';
import { messageSchema, toMessageRecord } from './message-record.ts';
import type { MessageRoutesOptions } from './message-routes-options.ts';
import { readSend, type SendBody, type Sending, type SendRules, sendRefusal } from './send-rules.ts';

const itemError = Type.Object(
  {
    error: Type.Object({
      code: Type.String({ description: 'A code as in an error response', examples: ['INVALID_ARGUMENT'] }),
      message: Type.String({ examples: ['to is required'] }),
      details: Type.Array(fieldProblemSchema),
    }),
  },
  { title: 'RefusedMessage' },
);

/** The handler serializes the answer, so that a stored answer is identical. */
const batchSchema = Type.Object(
  {
    data: Type.Array(Type.Unsafe<unknown>({ [itemKeyword]: Type.Union([messageSchema, itemError]) })),
    summary: Type.Object({ accepted: Type.Integer({ examples: [1] }), rejected: Type.Integer({ examples: [0] }) }),
  },
  { title: 'Batch' },
);

/** Up to 100 texts in one request, which counts as one against the limits. Each text succeeds or fails alone. */
export function createBatchRoute({ api, base, auth, tag, messages, idempotency, rules }: MessageRoutesOptions): Route {
  return route({
    method: 'POST',
    path: `${base}/batch`,
    auth,
    tag,
    operationId: 'sendMessages',
    summary: 'Send up to 100 texts',
    description:
      'Each text is accepted or refused on its own, in the order of the request: `data` has a message or an `error` for each, and `summary` counts them.',
    body: Type.Object({
      messages: Type.Array(Type.Unsafe<unknown>({ [itemKeyword]: rules.batched }), {
        minItems: 1,
        maxItems: 100,
        expected: '1 to 100 messages',
      }),
    }),
    idempotent: true,
    answers: {
      200: {
        description: 'One entry per message, in order: its record, or its error',
        schema: batchSchema,
        example: { data: [queuedMessage], summary: { accepted: 1, rejected: 0 } },
      },
    },
    handler: (call) =>
      answerOnce(idempotency, call, async (keep) => {
        const { applicationId, highPriority, rights } = requireApplication(call);
        const spender = { applicationId, segmentsPerDay: rights.segmentsPerDay };
        const context = { applicationId, rights, api, correlationId: call.correlationId, trace: call.trace };
        const sending = { api, highPriority, rights };
        const checked = call.body.messages.map((item) => {
          const error = refusalOf(item, rules, sending);
          return error ?? messages.prepare(readSend(item as SendBody, sending), context);
        });
        const refused = checked.find((each) => each instanceof ApiError);
        const refusal = refused && (await messages.refusalOf(refused, spender));
        /** One error for all of them, if the application's segments of the day are used up. */
        const ofDay = refusal === refused ? undefined : refusal;
        const prepared = checked.flatMap((each) => ('error' in each || !isMessage(each) ? [] : [each]));
        let last: { outcomes: readonly SendOutcome[]; answer: KeptAnswer } | undefined;
        /**
         * Merges the outcomes of the prepared texts with the errors of the others. Usually the outcomes are known
         * before the commit.
         */
        const toAnswer = (outcomes: readonly SendOutcome[]): KeptAnswer => {
          if (last?.outcomes.every((outcome, index) => outcome === outcomes[index])) return last.answer;
          const left = [...outcomes];
          const data = checked.map((each) => {
            if ('error' in each) return each;
            return toEntry(isMessage(each) ? (left.shift() ?? each) : (ofDay ?? each));
          });
          const accepted = outcomes.filter(isMessage).length;
          const body = { data, summary: { accepted, rejected: data.length - accepted } };
          last = { outcomes, answer: { status: 200, body: JSON.stringify(body), location: null } };
          return last.answer;
        };
        const toKeep: KeepOutcomes = (outcomes) => keep(toAnswer(outcomes));
        return toAnswer(await messages.accept(spender, prepared, toKeep, call.trace));
      }),
  });
}

function toEntry(outcome: SendOutcome) {
  return isMessage(outcome) ? toMessageRecord(outcome) : toError(outcome);
}

function toError({ code, message, details }: ApiError) {
  return { error: { code, message, details } };
}

function refusalOf(item: unknown, rules: SendRules, sending: Sending) {
  const details = problemsOf(rules.messaging, item);
  if (details.length > 0) {
    const message = details.map((problem) => `${problem.field} ${problem.message}`).join('; ');
    return { error: { code: 'INVALID_ARGUMENT', message, details } };
  }
  const refusal = sendRefusal(item as SendBody, sending);
  return refusal && toError(refusal);
}
