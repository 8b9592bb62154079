// Tests: test/contract/sms-messages.test.ts, test/openapi/as-strict.test.ts
import { type Static, Type } from 'typebox';
import { nullable } from '../http/list-page.ts';
import { isLongerThan } from '../http/request/text-bounds.ts';
import { isRight } from '../http/request/validation.ts';
import type { CallingApplication } from '../http/route.ts';
import { type Clock, dayMs, readTimestamp, timestampPattern } from '../platform/clock.ts';
import { type ApiError, type FieldProblem, invalidField } from '../platform/errors.ts';
import { channelExpected, messagingChannels, rightChannel, unsupportedChannel } from './channel.ts';
import type { Priority, SendRequest } from './message-service.ts';
import {
  longestNumber,
  numberPattern,
  numberProblem,
  recipientForm,
  requireNumber,
  rightNumber,
} from './numbers/phone-number.ts';
import { longestSender, rightSender, senderProblem, shownSender } from './numbers/sender.ts';
import { referenceProblem, storablePattern } from './reference.ts';
import { smartEncode } from './text/smart-encoding.ts';
import { longestText, measure, rightText, textProblem, tooLongProblem } from './text/text.ts';

export type SendRules = ReturnType<typeof createSendRules>;

/** A body that passed the rules. */
export type SendBody = Static<SendRules['sms']> & { channel?: string };

type Body = Record<string, unknown>;

/** Refusals of a send besides those of its fields. */
export const sendRefusals = {
  sms: {
    UNROUTABLE_DESTINATION: 'No route leads to the number',
    SPEND_LIMIT: "The application's segments of the day are used up",
  },
  messaging: {
    UNSUPPORTED_CHANNEL: 'The channel is not supported',
    UNROUTABLE_DESTINATION: 'No route leads to the number',
    SPEND_LIMIT: "The application's segments of the day are used up",
  },
};

const sevenDaysMs = 7 * dayMs;

const shownText = { minLength: 1, pattern: '^[^\\x00]+$' };

/** For the reference: a batch takes every text and refuses a wrong one by itself, so here fields have types and no bounds. */
function withoutBounds({ properties, required }: { properties: object; required: string[] }) {
  const kinds = Object.entries(properties).map(([name, field]) => {
    const { type, description, expected, examples, default: otherwise } = field as Record<string, unknown>;
    return [name, { type, description: description ?? expected, examples, default: otherwise }];
  });
  return Type.Unsafe<unknown>({
    title: 'BatchedMessage',
    type: 'object',
    properties: Object.fromEntries(kinds),
    required,
  });
}

/**
 * Rules for a request to send: the schema checks types, `check` the rest, and the caller sees all bad fields at once.
 */
export function createSendRules(clock: Clock, environment: 'sandbox' | 'production') {
  function check({ to, from, message, reference, send_at, smart_encoding }: Body): FieldProblem[] {
    const problems: FieldProblem[] = [];
    const add = (field: string, problem: string | undefined) => {
      if (problem !== undefined) problems.push({ field, message: problem });
    };
    if (typeof to === 'string') add('to', numberProblem(to, environment));
    if (typeof from === 'string') add('from', senderProblem(from));
    if (typeof message === 'string') add('message', messageProblem(message, smart_encoding === true));
    if (typeof reference === 'string') add('reference', referenceProblem(reference));
    if (typeof send_at === 'string') add('send_at', sendAtProblem(send_at, clock.nowMs()));
    return problems;
  }

  const message = Type.String({
    maxLength: longestText,
    expected: rightText,
    shown: shownText,
    examples: ['Your order has left our house.'],
  });
  const fields = {
    to: Type.String({
      maxLength: longestNumber,
      expected: rightNumber,
      shownPattern: numberPattern,
      examples: ['+447700900123'],
      description: `Destination number: ${recipientForm(environment)}`,
    }),
    from: Type.String({
      maxLength: longestSender,
      expected: rightSender,
      shown: shownSender,
      examples: ['ACME'],
    }),
    message,
    reference: Type.Optional(
      nullable(
        Type.String({
          maxLength: 128,
          shown: { pattern: storablePattern },
          description: 'Your own reference for the message',
        }),
      ),
    ),
    validity_seconds: Type.Integer({
      minimum: 60,
      maximum: 259_200,
      default: 86_400,
      description: 'How long carriers try to deliver it',
      expected: 'a whole number of seconds from 60 to 259200',
    }),
    send_at: Type.Optional(
      nullable(
        Type.String({
          maxLength: 35,
          shown: { format: 'date-time', pattern: timestampPattern },
          examples: ['2026-01-31T18:00:00Z'],
          description: 'RFC 3339, up to 7 days ahead; a past time sends at once',
        }),
      ),
    ),
    smart_encoding: Type.Boolean({ default: false, description: 'Replace typographic characters with plain ones' }),
    priority: Type.Unsafe<Priority>({
      type: 'string',
      enum: ['normal', 'high'],
      default: 'normal',
      expected: 'normal or high',
      description: 'normal, or high: goes before others, as codes do, where an operator allows it to the application',
    }),
  };
  const sms = Type.Object(fields, { title: 'SmsToSend', check });

  /** A bad channel alone is UNSUPPORTED_CHANNEL; among other bad fields it is one more field problem. */
  function checkChannel(body: Body): FieldProblem[] {
    if (typeof body.channel !== 'string' || body.channel === 'sms') return [];
    return isRight(sms, body) ? [] : [{ field: 'channel', message: channelExpected(messagingChannels) }];
  }

  const messaging = Type.Object(
    {
      ...fields,
      channel: Type.String({
        maxLength: 1024,
        default: 'sms',
        expected: rightChannel(messagingChannels),
        shown: { enum: messagingChannels },
        description: 'How it is sent',
      }),
    },
    { title: 'MessageToSend', check: (body: Body) => [...check(body), ...checkChannel(body)] },
  );

  return {
    sms,
    messaging,
    batched: withoutBounds(messaging),
    preview: Type.Object(
      {
        message: Type.String({
          maxLength: longestText,
          expected: `a text of 1 to ${longestText} characters`,
          shown: shownText,
          examples: ['It’s on its way'],
        }),
      },
      { title: 'TextToPreview', check: checkPreview },
    ),
  };
}

export type Sending = Pick<CallingApplication, 'api' | 'highPriority' | 'rights'>;

export function readSend(body: SendBody, sending: Sending): SendRequest {
  const refusal = sendRefusal(body, sending);
  if (refusal !== undefined) throw refusal;
  const { from, message, reference = null, validity_seconds, send_at = null, smart_encoding, priority } = body;
  const to = requireNumber(body.to);
  return { to, from, message, channel: 'sms', reference, validity_seconds, send_at, smart_encoding, priority };
}

/** The SMS API has no `channel` field and ignores it, like any unknown property. */
export function sendRefusal({ channel, priority }: SendBody, sending: Sending): ApiError | undefined {
  if (sending.api === 'messaging' && channel !== 'sms') return unsupportedChannel(messagingChannels);
  return priority === 'high' && !sending.highPriority ? invalidField('priority', priorityDenied) : undefined;
}

const priorityDenied = 'must be normal: an operator must allow high priority to this application first';

/** Checks the length first, so an oversized text costs no further work. */
function messageProblem(message: string, smart: boolean): string | undefined {
  if (isLongerThan(message, longestText)) return tooLongProblem(message);
  return textProblem(smart ? smartEncode(message) : message);
}

/** Accepts texts that are too long to send: callers use the preview to see how long they are. */
function checkPreview({ message }: Body): FieldProblem[] {
  if (typeof message !== 'string') return [];
  const problem = isLongerThan(message, longestText)
    ? `must have at most ${longestText} characters`
    : textProblem(message, { ...measure(message), count: 1 });
  return problem === undefined ? [] : [{ field: 'message', message: problem }];
}

/** Accepts past times, so that a retry with the same Idempotency-Key still gets its answer. */
function sendAtProblem(text: string, nowMs: number): string | undefined {
  const timeMs = readTimestamp(text);
  if (timeMs !== undefined && timeMs <= nowMs + sevenDaysMs) return undefined;
  return 'must be a time up to 7 days ahead, like 2030-01-31T12:00:00Z';
}
