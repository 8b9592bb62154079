import type { Static } from 'typebox';
import type { CallingApplication, Origin } from '../../http/route.ts';
import { type SendingChannel, unsupportedChannel } from '../../messages/channel.ts';
import type { StartClient } from '../../messages/client-scope.ts';
import { requireNumber } from '../../messages/numbers/phone-number.ts';
import type { TextFacts } from '../../messages/text/text-route.ts';
import { invalidField } from '../../platform/errors.ts';
import { type Payment, toPaymentCell } from '../assurance/payment.ts';
import { requireAssured } from '../assurance/profile.ts';
import { type CodeSender, codeSender, requireAllowedSender } from '../code-sender.ts';
import type { FallbackStep } from '../fallback/plan.ts';
import { copyAutofill } from '../texts/autofill.ts';
import { templateFor } from '../texts/country-template.ts';
import { type PreparedText, prepareText, toMinutes } from '../texts/prepared-text.ts';
import type { VerificationTemplate } from '../texts/verification-text.ts';
import { mostSegmentsOf } from '../texts/verification-text.ts';
import { mayUse } from './channel-rights.ts';
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
export type ToStart = (caller: CallingApplication, body: StartBody, origin: Origin) => StartRequest;

const defaultCodeLength = 6;

export function codeLengthOf({ code, code_length }: Pick<StartBody, 'code' | 'code_length'>): number {
  return code?.length ?? code_length ?? defaultCodeLength;
}

const noRoomInTemplate = 'cannot be shown to this number: an operator has set the text of codes for its country';
const needsText = 'needs the channel sms: amount and payee must be read beside the code';
const needsSend = 'cannot be combined with the channel inbound, which sends nothing';
const tooLong = (count: number, most: number) =>
  `makes a text of ${count} segments, and at most ${most} fit; shorten the payee or leave out autofill`;

function requireRoom({ segments, template }: PreparedText): void {
  const most = mostSegmentsOf(template);
  if (segments.count > most) throw invalidField('payment', tooLong(segments.count, most));
}

/** Drops any other property of the caller. */
const copyPayment = ({ amount, currency, payee }: Payment): Payment => ({ amount, currency, payee });

/** Turns a body that passed the rules into a request to start. */
export function createStartRequests(options: StartRequestOptions): ToStart {
  const { clientsOf, requireCarrier, workingChannels } = options;

  function requireChannel(channel: string): SendingChannel | 'inbound' {
    return channel === 'inbound' ? channel : requireSending(channel, 'channel');
  }

  function requireSending(channel: string, field: string): SendingChannel {
    const working = workingChannels();
    const found = working.find((each) => each === channel);
    if (found === undefined) throw unsupportedChannel(working, field);
    return found;
  }

  return ({ applicationId, applicationName, rights }, body, { correlationId, trace }) => {
    const { reference, locale, code, ttl_seconds, autofill, client, payment } = body;
    const codeLength = codeLengthOf(body);
    const channel = requireChannel(body.channel);
    const to = requireNumber(body.to);
    requireAssured(rights.assurance, { to, channel, fallback: body.fallback, codeLength, code });
    const own = channel === 'sms' ? templateFor(rights, to) : {};
    if (payment != null && (channel !== 'sms' || body.fallback != null)) throw invalidField('payment', needsText);
    if (payment != null && own.own !== undefined) throw invalidField('payment', noRoomInTemplate);
    if (channel === 'inbound' && body.fallback != null) throw invalidField('fallback', needsSend);
    const templateOf = (by: SendingChannel | 'inbound'): VerificationTemplate => ({
      app: applicationName,
      locale: locale ?? null,
      minutes: toMinutes(ttl_seconds * 1000),
      codeLength,
      ...(by === 'sms'
        ? { autofill: copyAutofill(autofill ?? null), ...(channel === 'sms' ? own : templateFor(rights, to)) }
        : { autofill: null }),
      ...(by !== 'sms' && by !== 'inbound' && { channel: by }),
      ...(payment != null && { payment: copyPayment(payment) }),
    });
    const text = prepareText(templateOf(channel));
    const fallback = body.fallback?.map((step, index): FallbackStep => {
      const by = requireSending(step.channel, `fallback.${index}.channel`);
      return { channel: by, afterSeconds: step.after_seconds, template: templateOf(by) };
    });
    if (payment != null) requireRoom(text);
    const sending = channel === 'inbound' ? undefined : channel;
    const sender = codeSender(rights, to, text.sender, sending);
    const sentAs = sending && requireCarrier({ channel: sending, applicationId, to, ...sender });
    if (channel === 'sms') requireAllowedSender(rights, to, sentAs ?? sender.from);
    return {
      applicationId,
      to,
      channel,
      mayUseChannel: sending === undefined || mayUse(rights, sending, to),
      app: applicationName,
      reference: reference ?? null,
      codeLength,
      code: code ?? undefined,
      payment: payment == null ? null : toPaymentCell(payment),
      ttlSeconds: ttl_seconds,
      text,
      sender,
      correlationId,
      trace,
      profile: rights.assurance,
      segmentsPerDay: rights.segmentsPerDay,
      ...(fallback !== undefined && { fallback }),
      holds: rights.holds,
      clients: client == null ? [] : clientsOf(applicationId, client),
    };
  };
}
