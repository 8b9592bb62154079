// Tests: test/model/delivery.test.ts, test/parts/delivery-worker.test.ts
import { laneNames } from '../../messages/message.ts';
import { type TextToSend, templateIdOf } from '../../messages/text/text-to-send.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Log } from '../../platform/log.ts';
import { toTraceparent } from '../../platform/tracing/trace-context.ts';
import type { Carrier, CodeWay, OutgoingText } from '../carrier/carrier.ts';
import type { NextCarrier } from '../routing/next-carrier.ts';
import type { CarrierOutcomes } from './outcomes.ts';
import { type Claim, type ClaimedText, type EndedText, isUnsettled, type ScheduledText } from './queued-text.ts';
import { actionFor, deferred, heldBack, moveUnsent, notSubmitted, type ResultOptions } from './result.ts';

export interface SelectionOptions {
  clock: Clock;
  log: Log;
  carrier: Carrier;
  /** `sealedCode` is set if the caller made the code of its verification. */
  renderText: (text: TextToSend, sealedCode: Buffer | undefined) => string;
  /** Only called for codes that go by another channel than `sms`. */
  wayOf?: ((text: TextToSend, sealedCode: Buffer | undefined) => CodeWay | undefined) | undefined;
  /** Returns the verifications that still need their code. */
  findPending: (verificationIds: string[]) => Promise<PendingCodes>;
  /** Returns the ids of texts that their recipients do not want. */
  findUnwanted?: ((texts: TextToSend[]) => Promise<ReadonlySet<string>>) | undefined;
  /** The next carrier of a text; undefined if no other carrier works. */
  nextCarrier: (text: ClaimedText) => NextCarrier | undefined;
  /** When the hours of the text's route begin; null if it may leave now. */
  opensAtMs?: ((text: ClaimedText) => number | null) | undefined;
  /** The carrier's health by its answers; undefined for a carrier that is not watched. */
  outcomes?: CarrierOutcomes | undefined;
  /** Whether the carrier can send at present. */
  isDown?: (() => boolean) | undefined;
  isAtMostOnce: () => boolean;
}

/** Verifications that still need their code, with the sealed codes that callers made. */
export interface PendingCodes {
  has(verificationId: string): boolean;
  get?(verificationId: string): Buffer | null | undefined;
}

/** The ids of verifications that no longer need a code, and of texts that their recipients do not want. */
export interface OverTexts {
  has(id: string): boolean;
  /** The caller's sealed code of a verification that is not over. */
  codeOf?(verificationId: string): Buffer | undefined;
}

/** A claimed text, as the carrier gets it. */
export interface Sending {
  claimed: ClaimedText;
  text: OutgoingText;
}

/** Results of claimed texts. */
export interface Results {
  ended: EndedText[];
  again: ScheduledText[];
}

/** Decides which texts of a claim are submitted, and the results of the others. */
export function createTextSelection(options: SelectionOptions) {
  const { clock, log, carrier, renderText, isAtMostOnce, outcomes } = options;

  async function findOver({ texts, optOuts }: Claim): Promise<OverTexts> {
    const ids = texts.flatMap(({ message }) => message.verificationId ?? []);
    const pending: PendingCodes = ids.length === 0 ? new Set() : await options.findPending(ids);
    const ended = ids.filter((id) => !pending.has(id));
    const unwanted = optOuts ? await options.findUnwanted?.(texts.map(({ message }) => message)) : undefined;
    const over = new Set([...ended, ...(unwanted ?? [])]);
    return { has: (id) => over.has(id), codeOf: (id) => pending.get?.(id) ?? undefined };
  }

  function select({ texts, claimedAtMs }: Claim, over: OverTexts, beginBeforeMs: number) {
    const nowMs = clock.nowMs();
    // After this time another worker may take the claim before the carrier has answered.
    const late = clock.steadyMs() >= beginBeforeMs;
    const sending: Sending[] = [];
    const results: Results = { ended: [], again: [] };
    for (const claimed of texts) {
      // Since it was queued, a receipt has settled the text, or its number was masked on request.
      if (!isUnsettled(claimed)) continue;
      const wanted = actionFor(claimed, { nowMs: claimedAtMs, atMostOnce: isAtMostOnce() });
      const { verificationId } = claimed.message;
      const isOver = verificationId !== null && over.has(verificationId);
      const isUnwanted = over.has(claimed.message.id);
      const action = wanted !== 'submit' ? wanted : isUnwanted ? 'block' : isOver ? 'cancel' : 'submit';
      if (action !== 'submit') results.ended.push(endWithoutSubmit(claimed, action));
      else if (outcomes?.admits(claimed) === false && !late && hasGoneOn(claimed, results)) continue;
      else if (!late && isDeferred(claimed, results)) continue;
      else {
        const code = verificationId === null ? undefined : over.codeOf?.(verificationId);
        const text = late ? undefined : render(claimed, code);
        if (text !== undefined) sending.push({ claimed, text });
        else results.again.push(notSubmitted(claimed, { nowMs, carrier: carrier.key, late }));
      }
    }
    return { sending, results };
  }

  /** Defers a text that is due outside the hours of its route. Returns whether it did. */
  function isDeferred(claimed: ClaimedText, { again }: Results): boolean {
    const opensMs = options.opensAtMs?.(claimed) ?? null;
    if (opensMs !== null) again.push(deferred(claimed, { opensMs, carrier: carrier.key }));
    return opensMs !== null;
  }

  /**
   * While texts to this country do not get through, a code moves to another carrier, and other texts wait. False: the text
   * is a code that cannot move, so it is submitted here.
   */
  function hasGoneOn(claimed: ClaimedText, { again }: Results): boolean {
    const given = resultOptions();
    const moved = claimed.message.api === 'verify' ? moveUnsent(claimed, given) : undefined;
    if (moved !== undefined) again.push(moved);
    else if (claimed.message.api === 'verify') return false;
    else again.push(heldBack(claimed, { ...given, restMs: outcomes?.restMs(claimed) ?? 0 }));
    return true;
  }

  function resultOptions(submittedAtMs?: number): ResultOptions {
    return {
      nowMs: clock.nowMs(),
      submittedAtMs: submittedAtMs ?? clock.nowMs(),
      carrier: carrier.key,
      nextCarrier: options.nextCarrier,
      isClosed: carrier.isClosed === true,
      doubtAfterMs: carrier.onDoubt?.afterMs,
      ...(options.isDown && { isDown: options.isDown }),
      ...(outcomes && { mayCopy: outcomes.mayCopy }),
    };
  }

  /** A text that cannot be rendered does not fail the rest of the batch. */
  function render(
    { message, entry, parts, form, submitSpan }: ClaimedText,
    sealedCode: Buffer | undefined,
  ): OutgoingText | undefined {
    const { id: messageId, applicationId, to, sender, sentAs, expiresAtMs } = message;
    const lane = laneNames[entry.lane] ?? 'bulk';
    const isCode = message.api === 'verify';
    try {
      const text = renderText(message, sealedCode);
      const isOther = isCode && message.given?.channel !== undefined;
      return {
        messageId,
        attempt: entry.attempt + 1,
        applicationId,
        lane,
        isCode,
        to,
        from: sentAs ?? sender,
        text,
        ...(isOther && { way: options.wayOf?.(message, sealedCode) }),
        templateId: templateIdOf(message),
        expiresAtMs,
        parts,
        form,
        ...(submitSpan && { traceparent: toTraceparent(submitSpan) }),
      };
    } catch (error) {
      log.error({ message_id: messageId, reason: (error as Error).message }, 'a text could not be rendered');
      return undefined;
    }
  }

  return {
    /** The verifications of these texts that no longer need a code, and the texts that their recipients do not want. */
    findOver,
    /** Selects nothing after `beginBeforeMs` (steady time). `over` is what `findOver` has found. */
    select,
    /** Options for the results of answered texts. */
    resultOptions,
  };
}

const endings = {
  expire: { status: 'expired', error: 'expired' },
  give_up: { status: 'unknown', error: null },
  block: { status: 'failed', error: 'blocked_by_recipient' },
} as const;

export function endWithoutSubmit(
  { entry, message }: ClaimedText,
  action: 'expire' | 'give_up' | 'block' | 'cancel',
): EndedText {
  const none = { carrierMessageId: null, receiptKey: null, long: undefined, attempt: undefined };
  const about = { entry, ...none, wasSent: message.status === 'sent', isReported: message.isReported };
  // A text that may have arrived is not shown as canceled.
  if (action === 'cancel') return { ...about, status: entry.inDoubt ? 'unknown' : 'canceled', error: null };
  return { ...about, ...endings[action === 'block' && entry.inDoubt ? 'give_up' : action] };
}
