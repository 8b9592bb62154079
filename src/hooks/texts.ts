// Tests: test/hooks/repeats.test.ts
import { createHash } from 'node:crypto';
import { problemsOf, validationError } from '../http/request/validation.ts';
import type { CallingApplication, Origin } from '../http/route.ts';
import { isMessage, type KeepOutcomes } from '../messages/acceptance.ts';
import type { MessageRoutesOptions } from '../messages/message-routes-options.ts';
import { requireNumber } from '../messages/numbers/phone-number.ts';
import { readSend, type SendBody } from '../messages/send-rules.ts';
import { minuteMs } from '../platform/clock.ts';
import { invalidField } from '../platform/errors.ts';
import type { HookPayload } from './payload.ts';
import type { HookStart, SentText } from './receive.ts';

export type HookTextParts = Pick<MessageRoutesOptions, 'messages' | 'rules' | 'idempotency'>;

/** The same text to the same number within this time is a repeated call: its first message is the answer. */
const repeatsForMs = minuteMs;

/** Sends texts of hooks whose server sends a whole text instead of a code. */
export function createHookTexts({ messages, rules, idempotency }: HookTextParts) {
  /** Calls repeated at once on this node share one answer. */
  const underWay = new Map<string, Promise<SentText>>();

  async function sendOnce(
    key: string,
    body: SendBody,
    caller: CallingApplication,
    { correlationId, trace }: Origin,
  ): Promise<SentText> {
    const { applicationId, rights } = caller;
    const spender = { applicationId, segmentsPerDay: rights.segmentsPerDay };
    const about = { key, applicationId, method: 'POST', path: '/hooks/v1', payload: body, correlationId };
    const answer = await idempotency.once({ ...about, keptForMs: repeatsForMs }, async (keep) => {
      const prepared = messages.prepare(readSend(body, caller), { ...caller, correlationId, trace });
      if (!isMessage(prepared)) throw await messages.refusalOf(prepared, spender);
      const toAnswer = (id: string) => ({ status: 200, body: JSON.stringify({ id }), location: null });
      const toKeep: KeepOutcomes = ([written = prepared]) =>
        isMessage(written) ? keep(toAnswer(written.id)) : undefined;
      const [outcome = prepared] = await messages.accept(spender, [prepared], toKeep, trace);
      if (!isMessage(outcome)) throw outcome;
      return toAnswer(outcome.id);
    });
    return { id: (JSON.parse(String(answer.body)) as { id: string }).id, sent: !answer.replayed };
  }

  return async (
    caller: CallingApplication,
    { to, text: message }: HookPayload,
    { hook, origin }: HookStart,
  ): Promise<SentText> => {
    if (hook.from === null) {
      throw invalidField('code', 'is missing, and the hook has no sender for texts without a code: set its from');
    }
    const body = { to, from: hook.from, message };
    const problems = problemsOf(rules.sms, body);
    if (problems.length > 0) throw validationError(problems);
    const key = `hook-${createHash('sha256')
      .update([hook.id, requireNumber(to), message].join('\n'))
      .digest('base64url')}`;
    const first = underWay.get(key);
    if (first !== undefined) return { ...(await first), sent: false };
    const sending = sendOnce(key, body as SendBody, caller, origin).finally(() => underWay.delete(key));
    underWay.set(key, sending);
    return sending;
  };
}
