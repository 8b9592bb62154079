// Tests: test/contract/webhooks.test.ts, test/contract/portal-event-deliveries.test.ts
import type { AssembleEvents, EventType, StoredEvent } from '../events/event.ts';
import { type EventIds, findOwnEvent } from '../events/event-id.ts';
import { findEvents } from '../events/event-store.ts';
import { dayOf, firstOfDay, lastPosition } from '../events/position.ts';
import type { PageRequest } from '../http/list-page.ts';
import { type Clock, dayMs, hourMs } from '../platform/clock.ts';
import type { Database } from '../platform/database/database.ts';
import { ApiError, invalidField, notFound } from '../platform/errors.ts';
import type { ReceivedAnswer } from '../platform/http-out/received-answer.ts';
import { isId, newId } from '../platform/ids.ts';
import { findAnswers } from './answer-store.ts';
import { answersKeptMs } from './answers.ts';
import { findDeliveries, listDeliveries, queueAgain } from './delivery-store.ts';
import { makeDue, notifyWorkers } from './lease-store.ts';
import { countReplays, insertReplay } from './replay-store.ts';
import { findWebhook, lockWebhook } from './store.ts';
import { type Delivery, type DeliveryStatus, mostReplays, tooMany, type Webhook } from './webhook.ts';

/** A delivery with what was sent and what came back. */
export interface InspectedDelivery extends ShownDelivery {
  url: string;
  /** The event as a webhook gets it, rendered now: what is masked meanwhile is masked here. */
  body: string;
  /** By the time of the attempt. */
  answers: Map<number, ReceivedAnswer>;
}

/** A delivery and its event. */
export interface ShownDelivery {
  eventId: string;
  event: StoredEvent;
  delivery: Delivery;
}

export interface ReplaySpan {
  sinceMs: number;
  /** Undefined: until now. */
  untilMs: number | undefined;
  /** Empty: those of the webhook. */
  types: EventType[];
}

export interface WebhookDeliveriesOptions {
  database: Database;
  clock: Clock;
  ids: EventIds;
  /** How long events are kept. */
  eventDays: number;
  assemble: AssembleEvents;
}

export type WebhookDeliveries = ReturnType<typeof createWebhookDeliveries>;

/** The deliveries of a webhook, and how to replay them. */
export function createWebhookDeliveries({ database, clock, ids, eventDays, assemble }: WebhookDeliveriesOptions) {
  async function requireWebhook(applicationId: string, id: string): Promise<Webhook> {
    const found = isId('whk', id) ? await findWebhook(database, applicationId, id) : undefined;
    if (found === undefined) throw notFound();
    return found;
  }

  async function requireEnabled(applicationId: string, id: string): Promise<void> {
    const { status } = await requireWebhook(applicationId, id);
    if (status === 'disabled')
      throw new ApiError('INCOMPATIBLE_STATE', 'The webhook is disabled. Make it active, then replay.');
  }

  return {
    /** Newest event first. `searchedTo` is set if the search stopped before the page was full. */
    async list(applicationId: string, id: string, status: DeliveryStatus | undefined, page: PageRequest) {
      const webhook = await requireWebhook(applicationId, id);
      const before =
        page.after === undefined ? undefined : await findOwnEvent({ database, ids }, applicationId, page.after);
      if (page.after !== undefined && before === undefined)
        throw invalidField('cursor', 'must be a next_cursor of this list');
      const { limit } = page;
      const { deliveries, searchedTo } = await listDeliveries(database, id, status, {
        before: before?.position,
        limit,
      });
      const positions = deliveries.map(({ position }) => position);
      const events = await findEvents(
        database,
        applicationId,
        searchedTo === undefined ? positions : [...positions, searchedTo],
      );
      const found = new Map(events.map((event) => [event.position, event]));
      const rows = deliveries.flatMap((delivery): ShownDelivery[] => {
        const event = found.get(delivery.position);
        if (event === undefined) return [];
        const eventId = ids.idOf(event.position, event.timeMs);
        // While the webhook is paused or disabled there is no next attempt.
        const nextAttemptAtMs = webhook.status === 'active' ? delivery.nextAttemptAtMs : null;
        return [{ eventId, event, delivery: { ...delivery, nextAttemptAtMs } }];
      });
      const last = found.get(searchedTo ?? Number.NaN);
      return { rows, searchedTo: last && ids.idOf(last.position, last.timeMs) };
    },

    /** One delivery with the answers to its attempts. Throws a 404 for an event that was not tried. */
    async inspect(applicationId: string, id: string, eventId: string): Promise<InspectedDelivery> {
      const webhook = await requireWebhook(applicationId, id);
      const event = await findOwnEvent({ database, ids }, applicationId, eventId);
      const [delivery] = event === undefined ? [] : await findDeliveries(database, [id], [event.position]);
      if (event === undefined || delivery === undefined) throw notFound();
      const sinceMs = clock.nowMs() - answersKeptMs;
      const answers = await findAnswers(database, { webhookId: id, position: event.position, sinceMs });
      const [emitted] = await assemble(database, [event]);
      const nextAttemptAtMs = webhook.status === 'active' ? delivery.nextAttemptAtMs : null;
      const shown = { eventId, event, delivery: { ...delivery, nextAttemptAtMs } };
      return { ...shown, url: webhook.url, body: JSON.stringify(emitted), answers };
    },

    async replayOne(applicationId: string, id: string, eventId: string): Promise<void> {
      await requireEnabled(applicationId, id);
      const event = await findOwnEvent({ database, ids }, applicationId, eventId);
      if (event === undefined) throw notFound();
      await database.transaction(async (tx) => {
        if (!(await lockWebhook(tx, applicationId, id, 'share'))) throw notFound();
        await queueAgain(tx, id, [event.position], clock.nowMs());
        await makeDue(tx, id, clock.nowMs());
        await notifyWorkers(tx);
      });
    },

    async replaySpan(applicationId: string, id: string, { sinceMs, untilMs, types }: ReplaySpan): Promise<void> {
      const nowMs = clock.nowMs();
      const until = Math.min(untilMs ?? nowMs, nowMs);
      if (sinceMs < nowMs - eventDays * dayMs) throw invalidField('since', `must be within the last ${eventDays} days`);
      if (sinceMs > nowMs) throw invalidField('since', 'must not lie in the future');
      if (until < sinceMs) throw invalidField('until', 'must not be before since');
      await requireEnabled(applicationId, id);
      await database.transaction(async (tx) => {
        if (!(await lockWebhook(tx, applicationId, id))) throw notFound();
        if ((await countReplays(tx, id)) >= mostReplays)
          throw tooMany('replays of this webhook under way', mostReplays);
        const replay = {
          id: newId('evt', clock),
          webhookId: id,
          // The positions of a day may begin a little after midnight.
          position: firstOfDay(dayOf(sinceMs - hourMs)),
          upTo: await lastPosition(tx),
          sinceMs,
          untilMs: until,
          types: [...new Set(types)],
        };
        await insertReplay(tx, replay, nowMs);
        await makeDue(tx, id, nowMs);
        await notifyWorkers(tx);
      });
    },
  };
}
