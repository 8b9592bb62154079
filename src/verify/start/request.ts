import type { Static } from 'typebox';
import type { CallingApplication } from '../../http/route.ts';
import { type SendingChannel, unsupportedChannel } from '../../messages/channel.ts';
import type { StartClient } from '../../messages/client-scope.ts';
import { requireNumber } from '../../messages/numbers/phone-number.ts';
import type { TextFacts } from '../../messages/text/text-route.ts';
import { type CodeSender, codeSender, requireAllowedSender } from '../code-sender.ts';
import { copyAutofill } from '../texts/autofill.ts';
import { templateFor } from '../texts/country-template.ts';
import type { FallbackStep } from '../fallback/plan.ts';
import { prepareText, toMinutes } from '../texts/prepared-text.ts';
import { mayUse } from './channel-rights.ts';
import type { VerificationTemplate } from '../texts/verification-text.ts';
import type { StartRequest } from './decision.ts';
import type { StartRules } from './rules.ts';

export interface StartRequestOptions {
  /** The groups of a start's client, as keyed hashes; none in the sandbox. */
  clientsOf: (applicationId: string, client: StartClient) => string[];
  /**
   * Throws a 503 if no carrier could send a code to this number soon. Returns the sender that the route sets, or null.
   */
  requireCarrier: (start: CodeSender & Pick<TextFacts, 'channel' | 'applicationId' | 'to'>) => string | null;
  /** The channels that some carrier offers. */
  workingChannels: () => readonly SendingChannel[];
}

export type StartBody = Static<StartRules['schema']>;
export type ToStart = (caller: CallingApplication, body: StartBody, correlationId: string) => StartRequest;

const defaultCodeLength = 6;

/** Turns a body that passed the rules into a request to start. */
export function createStartRequests(options: StartRequestOptions): ToStart {
  const { clientsOf, requireCarrier, workingChannels } = options;

  function requireChannel(channel: string, field = 'channel'): SendingChannel {
    const working = workingChannels();
    const found = working.find((each) => each === channel);
    if (found === undefined) throw unsupportedChannel(working, field);
    return found;
  }

  return ({ applicationId, applicationName, rights }, body, correlationId) => {
    const { reference, locale, code, ttl_seconds, autofill, client } = body;
    const codeLength = code?.length ?? body.code_length ?? defaultCodeLength;
    // An answer kept for an idempotency key belongs to the body with its defaults.
    body.code_length = codeLength;
    const channel = requireChannel(body.channel);
    const to = requireNumber(body.to);
    const templateOf = (by: SendingChannel): VerificationTemplate => ({
      app: applicationName,
      locale: locale ?? null,
      minutes: toMinutes(ttl_seconds * 1000),
      codeLength,
      ...(by === 'sms'
        ? { autofill: copyAutofill(autofill ?? null), ...templateFor(rights, to) }
        : { autofill: null, channel: by }),
    });
    const text = prepareText(templateOf(channel));
    const fallback = body.fallback?.map((step, index): FallbackStep => {
      const by = requireChannel(step.channel, `fallback.${index}.channel`);
      return {
        channel: by,
        afterSeconds: step.after_seconds,
        template: templateOf(by),
        sender: codeSender(rights, to, text.sender, by),
        mayUseChannel: mayUse(rights, by, to),
      };
    });
    const sender = codeSender(rights, to, text.sender, channel);
    const sentAs = requireCarrier({ channel, applicationId, to, ...sender });
    if (channel === 'sms') requireAllowedSender(rights, to, sentAs ?? sender.from);
    return {
      applicationId,
      to,
      channel,
      mayUseChannel: mayUse(rights, channel, to),
      reference: reference ?? null,
      codeLength,
      code: code ?? undefined,
      ttlSeconds: ttl_seconds,
      text,
      sender,
      correlationId,
      segmentsPerDay: rights.segmentsPerDay,
      ...(fallback !== undefined && { fallback }),
      holds: rights.holds,
      clients: client == null ? [] : clientsOf(applicationId, client),
    };
  };
}
