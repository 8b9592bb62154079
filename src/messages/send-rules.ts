import { type Static, Type } from 'typebox';
import { nullable } from '../http/page.ts';
import type { Api } from '../http/route.ts';
import { problemsOf } from '../http/validation.ts';
import type { Clock } from '../platform/clock.ts';
import { ApiError, type FieldProblem } from '../platform/errors.ts';
import type { SendRequest } from './message-service.ts';
import { longestWritten, numberForm, numberProblem, requireNumber } from './phone-number.ts';
import { referenceProblem } from './reference.ts';
import { senderProblem } from './sender.ts';
import { smartEncode } from './smart-encoding.ts';
import { measure, problemOf } from './text.ts';

export type SendRules = ReturnType<typeof createSendRules>;

/** A body that the rules have found right. */
export type SendBody = Static<SendRules['sms']> & { channel?: string };

type Body = Record<string, unknown>;

const sevenDaysMs = 7 * 86_400_000;

/** What a request to send must look like: types by schema, the rest by `check`, so that every bad field is told at once. */
export function createSendRules(clock: Clock, environment: 'sandbox' | 'production') {
  function check({ to, from, message, reference, send_at, smart_encoding }: Body): FieldProblem[] {
    const problems: FieldProblem[] = [];
    const add = (field: string, problem: string | undefined) => {
      if (problem !== undefined) problems.push({ field, message: problem });
    };
    if (typeof to === 'string') add('to', numberProblem(to, environment));
    if (typeof from === 'string') add('from', senderProblem(from));
    if (typeof message === 'string')
      add('message', problemOf(smart_encoding === true ? smartEncode(message) : message));
    if (typeof reference === 'string') add('reference', referenceProblem(reference));
    if (typeof send_at === 'string') add('send_at', sendAtProblem(send_at, clock.nowMs()));
    return problems;
  }

  const fields = {
    to: Type.String({ maxLength: longestWritten, description: `Destination number: ${numberForm}` }),
    from: Type.String({ description: 'Sender: up to 11 letters and digits, or 3 to 15 digits' }),
    message: Type.String({ description: 'Text of the message, at most 10 segments' }),
    reference: Type.Optional(nullable(Type.String({ maxLength: 128, description: 'Your own name for it' }))),
    validity_seconds: Type.Integer({
      minimum: 60,
      maximum: 259_200,
      default: 86_400,
      expected: 'a whole number of seconds from 60 to 259200',
    }),
    send_at: Type.Optional(
      nullable(
        Type.String({ maxLength: 64, description: 'RFC 3339, up to 7 days ahead; a time that has passed means now' }),
      ),
    ),
    smart_encoding: Type.Boolean({ default: false, description: 'Replace typographic characters by plain ones' }),
  };
  const sms = Type.Object(fields, { check });

  /** Alone it has a code of its own, UNSUPPORTED_CHANNEL; here it is told as one of several that are wrong. */
  function checkChannel(body: Body): FieldProblem[] {
    if (typeof body.channel !== 'string' || body.channel === 'sms') return [];
    return problemsOf(sms, body).length === 0 ? [] : [{ field: 'channel', message: channelExpected }];
  }

  return {
    sms,
    messaging: Type.Object(
      { ...fields, channel: Type.String({ default: 'sms', description: 'sms' }) },
      { check: (body: Body) => [...check(body), ...checkChannel(body)] },
    ),
    preview: Type.Object({ message: Type.String() }, { check: checkPreview }),
  };
}

const channelExpected = 'must be sms';

/** The SMS API has no `channel`: there it is a property nobody knows, and ignored. */
export function readSend(body: SendBody, api: Api): SendRequest {
  const refusal = api === 'messaging' ? channelRefusal(body) : undefined;
  if (refusal !== undefined) throw refusal;
  const { to, from, message, reference = null, validity_seconds, send_at = null, smart_encoding } = body;
  return { to: requireNumber(to), from, message, channel: 'sms', reference, validity_seconds, send_at, smart_encoding };
}

export function channelRefusal({ channel }: SendBody): ApiError | undefined {
  if (channel === 'sms') return undefined;
  return new ApiError('UNSUPPORTED_CHANNEL', 'The channel that works is sms.', {
    details: [{ field: 'channel', message: channelExpected }],
  });
}

/** A text may be too long to be sent: how long it is, is what one looks for here. */
function checkPreview({ message }: Body): FieldProblem[] {
  const problem = typeof message === 'string' ? problemOf(message, { ...measure(message), count: 1 }) : undefined;
  return problem === undefined ? [] : [{ field: 'message', message: problem }];
}

const rfc3339 = /^(\d{4}-\d{2}-\d{2})T([01]\d|2[0-3])(:[0-5]\d){2}(\.\d{1,9})?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$/;

/** A time that has passed is right: a request that is sent again with its Idempotency-Key must find its answer. */
function sendAtProblem(text: string, nowMs: number): string | undefined {
  const right = 'must be a time up to 7 days ahead, like 2030-01-31T12:00:00Z';
  const date = rfc3339.exec(text)?.[1];
  if (date === undefined || !isDay(date) || Date.parse(text) > nowMs + sevenDaysMs) return right;
  return undefined;
}

/** JavaScript takes the 30th of February for the 1st or 2nd of March. */
function isDay(date: string): boolean {
  const ms = Date.parse(`${date}T00:00:00Z`);
  return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(date);
}
