import type { PageRequest } from '../http/list-page.ts';
import type { Api, RequestTrace } from '../http/route.ts';
import type { SendingRights } from '../http/sending-rights.ts';
import type { Clock } from '../platform/clock.ts';
import type { Database } from '../platform/database/database.ts';
import { createReadBatcher } from '../platform/database/read-batcher.ts';
import { ApiError, notFound } from '../platform/errors.ts';
import { isId, newId } from '../platform/ids.ts';
import { createAcceptance, isMessage, type KeepOutcomes, type SendOutcome } from './acceptance.ts';
import { createCancellations } from './cancellations.ts';
import { type Channel, noCarrier, unroutable } from './channel.ts';
import type { Message, ShownMessage } from './message.ts';
import { listMessages, type MessageFilter } from './message-list.ts';
import { readSpans, type Span } from './message-spans.ts';
import { findByKeys, type MessageKey } from './message-store.ts';
import { newMessage } from './new-message.ts';
import { senderCarriers, senderRefusal } from './numbers/held-sender.ts';
import { noOptOuts, type OptOutCheck } from './opt-out-check.ts';
import { isUsedUp, type Spender, spendLimit } from './spend.ts';
import { smartEncode } from './text/smart-encoding.ts';
import { measure, type Segments } from './text/text.ts';
import type { RouteText } from './text/text-route.ts';

export type Priority = 'normal' | 'high';

/** A validated request to send. */
export interface SendRequest {
  to: string;
  from: string;
  message: string;
  channel: Channel;
  reference: string | null;
  validity_seconds: number;
  send_at: string | null;
  smart_encoding: boolean;
  priority: Priority;
}

/** The caller's application with its rights, the API it used, and the request's correlation id. */
export interface SendContext {
  applicationId: string;
  rights: SendingRights;
  api: Api;
  correlationId: string;
  trace?: RequestTrace | undefined;
}

export interface MessageServiceOptions {
  database: Database;
  /** For lists; defaults to `database`. */
  sideDatabase?: Database;
  clock: Clock;
  routeText: RouteText;
  /** Called after every commit: these carriers may have something to send. */
  wake: (carriers: readonly string[]) => void;
  /** By default there are no opt-outs. */
  optOuts?: OptOutCheck;
}

const nothing: readonly string[] = [];

export type MessageService = ReturnType<typeof createMessageService>;

export function createMessageService(options: MessageServiceOptions) {
  const { database, sideDatabase = database, clock, routeText, wake, optOuts = noOptOuts } = options;
  const accepted = createAcceptance({ database, clock, optOuts });

  const cancellations = createCancellations(database, clock);
  const find = createReadBatcher((keys: MessageKey[]) => findByKeys(database, keys));
  const readNewest = createReadBatcher((spans: Span[]) => readSpans(sideDatabase, spans));

  /**
   * Builds the message row; writes nothing. An error refuses the sender, or says that no route leads to the number.
   * `measured` are the segments of the text, from a caller that has them.
   */
  function prepare(
    request: SendRequest,
    { applicationId, rights, api, correlationId, trace }: SendContext,
    measured?: Segments,
  ): SendOutcome {
    const nowMs = clock.nowMs();
    const body = request.smart_encoding ? smartEncode(request.message) : request.message;
    const segments = measured ?? measure(body);
    const wantedMs = request.send_at === null ? nowMs : Date.parse(request.send_at);
    const sendAtMs = wantedMs > nowMs ? wantedMs : null;
    const expiresAtMs = (sendAtMs ?? nowMs) + request.validity_seconds * 1000;
    const { to, from } = request;
    const id = newId('msg', clock);
    const urgent = request.priority === 'high';
    const found = routeText({
      messageId: id,
      applicationId,
      api,
      to,
      from,
      urgent,
      senderCarriers: senderCarriers(rights, from, to),
      holdsSender: false,
      used: nothing,
      sendAtMs: sendAtMs ?? nowMs,
    });
    if (found === 'no_carrier') throw noCarrier();
    const refusal = senderRefusal(rights, from, to);
    if (refusal !== undefined) return refusal;
    if (found === 'unroutable') return unroutable();
    return newMessage({
      id,
      applicationId,
      api,
      channel: request.channel,
      to,
      sender: from,
      correlationId,
      expiresAtMs,
      lane: urgent ? 'first' : 'bulk',
      nowMs,
      segments,
      route: found,
      body,
      reference: request.reference,
      sendAtMs,
      trace: trace?.kept,
    });
  }

  return {
    prepare,

    /**
     * Commits the messages and the stored answer together. Both are on disk when it resolves. The outcomes are in the
     * order of the messages; `keep` makes the answer from them, and may be called more than once.
     */
    async accept(
      spender: Spender,
      messages: Message[],
      keep: KeepOutcomes,
      trace?: RequestTrace,
    ): Promise<SendOutcome[]> {
      const sinceMs = trace === undefined ? 0 : clock.steadyMs();
      const outcomes = await accepted.submit({ spender, messages, keep, kept: keep(messages) });
      trace?.note('batch', sinceMs, { 'heliograph.texts': messages.length });
      wake(carriersOf(outcomes.filter(isMessage)));
      return outcomes;
    },

    async require(applicationId: string, api: Api, id: string): Promise<ShownMessage> {
      const message = isId('msg', id) ? await find({ applicationId, api, id }) : undefined;
      if (message === undefined) throw notFound();
      return message;
    },

    list: (applicationId: string, api: Api, filter: MessageFilter, page: PageRequest) =>
      listMessages(sideDatabase, applicationId, api, filter, { ...page, nowMs: clock.nowMs() }, readNewest),

    async cancel(applicationId: string, api: Api, id: string): Promise<ShownMessage> {
      if (!isId('msg', id)) throw notFound();
      // A text that moves from the schedule to the queue meanwhile is found at the second try.
      for (let tries = 0; tries < 2; tries++) {
        const canceled = await cancellations.submit({ applicationId, api, id });
        if (canceled !== undefined) return canceled;
      }
      const message = await find({ applicationId, api, id });
      if (message === undefined) throw notFound();
      throw new ApiError('INCOMPATIBLE_STATE', `The message is ${message.status} and can no longer be canceled.`);
    },

    /** The limit of the day comes before any other refusal. */
    async refusalOf(refused: ApiError, spender: Spender): Promise<ApiError> {
      return (await isUsedUp(database, spender, clock.nowMs())) ? spendLimit(spender) : refused;
    },

    async drain(): Promise<void> {
      await accepted.drain();
      await cancellations.drain();
    },
  };
}

/** The carriers of the texts that may leave at once. */
function carriersOf(messages: readonly Message[]): string[] {
  const carriers: string[] = [];
  for (const { status, deferredUntilMs, carrier } of messages) {
    if (status === 'queued' && deferredUntilMs === null && !carriers.includes(carrier)) carriers.push(carrier);
  }
  return carriers;
}
