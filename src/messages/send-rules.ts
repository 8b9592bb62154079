import { Type } from 'typebox';
import { nullable } from '../http/page.ts';
import type { Clock } from '../platform/clock.ts';
import type { FieldProblem } from '../platform/errors.ts';
import { numberProblem } from './phone-number.ts';
import { senderProblem } from './sender.ts';
import { smartEncode } from './smart-encoding.ts';
import { problemOf } from './text.ts';

export type SendRules = ReturnType<typeof createSendRules>;

const sevenDaysMs = 7 * 86_400_000;

/** What a request to send must look like: types by schema, the rest by `check`, so that every bad field is told at once. */
export function createSendRules(clock: Clock, environment: 'sandbox' | 'production') {
  function check(body: Record<string, unknown>): FieldProblem[] {
    const { to, from, message, send_at, smart_encoding } = body;
    const problems: FieldProblem[] = [];
    const add = (field: string, problem: string | undefined) => {
      if (problem !== undefined) problems.push({ field, message: problem });
    };
    if (typeof to === 'string') add('to', numberProblem(to, environment));
    if (typeof from === 'string') add('from', senderProblem(from));
    if (typeof message === 'string')
      add('message', problemOf(smart_encoding === true ? smartEncode(message) : message));
    if (typeof send_at === 'string') add('send_at', sendAtProblem(send_at, clock.nowMs()));
    return problems;
  }

  return {
    schema: Type.Object(
      {
        to: Type.String({ description: 'Destination number in international format, like +447700900123' }),
        from: Type.String({ description: 'Sender: up to 11 letters and digits, or 3 to 15 digits' }),
        message: Type.String({ description: 'Text of the message, at most 10 segments' }),
        channel: Type.String({ default: 'sms', maxLength: 32 }),
        reference: Type.Optional(nullable(Type.String({ maxLength: 128, description: 'Your own name for it' }))),
        validity_seconds: Type.Integer({
          minimum: 60,
          maximum: 259_200,
          default: 86_400,
          expected: 'a whole number of seconds from 60 to 259200',
        }),
        send_at: Type.Optional(nullable(Type.String({ maxLength: 64, description: 'RFC 3339, up to 7 days ahead' }))),
        smart_encoding: Type.Boolean({ default: false, description: 'Replace typographic characters by plain ones' }),
      },
      { check },
    ),
    previewSchema: Type.Object({ message: Type.String({ minLength: 1 }) }),
  };
}

function sendAtProblem(text: string, nowMs: number): string | undefined {
  const right = 'must be a time up to 7 days ahead, like 2030-01-31T12:00:00Z';
  if (!/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,9})?(Z|[+-]\d{2}:\d{2})$/.test(text)) return right;
  const atMs = Date.parse(text);
  return Number.isNaN(atMs) || atMs > nowMs + sevenDaysMs ? right : undefined;
}
