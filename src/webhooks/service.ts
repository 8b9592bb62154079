// Tests: test/contract/webhooks.test.ts, test/races/webhooks.test.ts
import type { EmittedEvent, EventType } from '../events/event.ts';
import { addListener, stopListening } from '../events/listener-store.ts';
import type { Listeners } from '../events/listeners.ts';
import { type Clock, toTimestamp } from '../platform/clock.ts';
import type { KeyRing } from '../platform/crypto/keys.ts';
import { spellSecret } from '../platform/crypto/webhook-signature.ts';
import type { Database, Note, Tx } from '../platform/database/database.ts';
import { invalidField, notFound, unavailable } from '../platform/errors.ts';
import type { AddressGuard } from '../platform/http-out/address-guard.ts';
import type { GuardedClient } from '../platform/http-out/client.ts';
import { isId, newId } from '../platform/ids.ts';
import { attempt } from './attempt.ts';
import { endWaiting } from './delivery-store.ts';
import { disableAndAskBack } from './disable.ts';
import { untilGivenBack } from './give-back.ts';
import { askBack, forgetFailures, isHeld, notifyWorkers } from './lease-store.ts';
import { endSecrets, insertSecret, listSecrets, newSecret, openSecrets } from './secret-store.ts';
import * as store from './store.ts';
import {
  type Attempt,
  feedKeepsListeningMs,
  mostSecrets,
  mostWebhooks,
  tooMany,
  type Webhook,
  type WebhookSecret,
} from './webhook.ts';

export interface NewWebhook {
  url: string;
  types: EventType[];
  description: string | null;
  /** The secret that the receiver has already; without it, a new one. */
  secret?: Buffer | undefined;
}

export interface WebhookChange {
  url?: string | undefined;
  types?: EventType[] | undefined;
  description?: string | null | undefined;
  status?: 'active' | 'paused' | undefined;
}

export interface WebhookDetail extends Webhook {
  /** Secrets that sign now, newest first. */
  secrets: WebhookSecret[];
}

/** A secret for its owner, shown once. */
export interface NewSecret extends WebhookSecret {
  secret: string;
}

export interface TestOutcome extends Attempt {
  eventId: string;
  outcome: 'delivered' | 'failed';
}

export interface WebhookServiceOptions {
  database: Database;
  clock: Clock;
  keys: KeyRing;
  guard: AddressGuard;
  client: GuardedClient;
  listeners: Pick<Listeners, 'begin'>;
  /** Whether the application exists. It cannot be deleted before the transaction ends. */
  isApplication: (tx: Tx, id: string) => Promise<boolean>;
  /** The pause between polls that wait until a worker has given a webhook back. */
  pause?: () => Promise<void>;
}

export type WebhookService = ReturnType<typeof createWebhookService>;

/** Waiting deliveries that one transaction ends. */
const endAtOnce = 1000;
const disabledNow = 'The webhook was disabled a moment ago. Try again.';

/**
 * The webhooks of applications; one of another application is a 404. After a change, a new secret or a deletion has
 * resolved, no attempt begins with the old settings.
 */
export function createWebhookService(options: WebhookServiceOptions) {
  const { database, clock, keys, guard, client, listeners, isApplication } = options;

  async function urlProblem(url: string): Promise<string | undefined> {
    return url.includes('#') ? 'must not have a fragment (#)' : guard.problem(url);
  }

  async function requireUrl(url: string): Promise<void> {
    const problem = await urlProblem(url);
    if (problem !== undefined) throw invalidField('url', problem);
  }

  async function read(tx: Tx, applicationId: string, id: string): Promise<WebhookDetail> {
    const found = isId('whk', id) ? await store.findWebhook(tx, applicationId, id) : undefined;
    if (found === undefined) throw notFound();
    return { ...found, secrets: await listSecrets(tx, id, clock.nowMs()) };
  }

  async function addSecret(tx: Tx, webhookId: string, secret = newSecret()): Promise<NewSecret> {
    const row = { id: newId('sec', clock), createdAtMs: clock.nowMs() };
    await insertSecret(tx, keys, { ...row, webhookId, secret });
    return { ...row, endsAtMs: null, secret: spellSecret(secret) };
  }

  /** Makes a change, and waits until the worker that holds the webhook has given it back or its lease has expired. */
  async function change<Result>(
    applicationId: string,
    id: string,
    work: (tx: Tx) => Promise<Result>,
    note: Note | undefined,
  ): Promise<Result> {
    if (!isId('whk', id)) throw notFound();
    const result = await database.transaction(async (tx) => {
      if (!(await store.lockWebhook(tx, applicationId, id))) throw notFound();
      const done = await work(tx);
      await note?.(tx, done);
      await askBack(tx, id);
      await notifyWorkers(tx);
      return done;
    });
    await untilGivenBack(() => isHeld(database, id), options.pause);
    return result;
  }

  /** Ends the deliveries of a disabled webhook in batches, because there may be many. */
  async function endDeliveries(applicationId: string, id: string): Promise<void> {
    // A worker that still holds it has its last deliveries to record.
    await untilGivenBack(() => isHeld(database, id), options.pause);
    let ended: number;
    do {
      ended = await database.transaction(async (tx) => {
        if (!(await store.lockWebhook(tx, applicationId, id))) return 0;
        const { status } = await read(tx, applicationId, id);
        return status === 'disabled' ? endWaiting(tx, id, clock.nowMs(), endAtOnce) : 0;
      });
    } while (ended === endAtOnce);
  }

  /** A test that succeeds resets the webhook's failures. */
  async function noteTested(applicationId: string, id: string): Promise<void> {
    await database.transaction(async (tx) => {
      if (!(await store.lockWebhook(tx, applicationId, id, 'share'))) return;
      if (await forgetFailures(tx, id)) await notifyWorkers(tx);
    });
  }

  /** A 410 to a test disables the webhook as one to an event does. */
  async function noteGone(id: string, url: string): Promise<void> {
    await database.transaction((tx) => disableAndAskBack(tx, id, { reason: 'gone', url }, clock.nowMs()));
    await untilGivenBack(() => isHeld(database, id), options.pause);
  }

  return {
    /** Whether an address may be called. */
    urlProblem,

    async create(
      applicationId: string,
      given: NewWebhook,
      note?: Note<string>,
    ): Promise<WebhookDetail & { secret: string }> {
      await requireUrl(given.url);
      const id = newId('whk', clock);
      const secret = await database.transaction(async (tx) => {
        if (!(await isApplication(tx, applicationId))) throw notFound();
        // The listener's row stays locked from here on, so the count is exact.
        await addListener(tx, applicationId);
        const others = await store.listWebhooks(tx, applicationId, mostWebhooks);
        if (others.length >= mostWebhooks) throw tooMany('webhooks of this application', mostWebhooks);
        await store.insertWebhook(tx, { ...distinct(given), id, applicationId, createdAtMs: clock.nowMs() });
        await note?.(tx, id);
        await notifyWorkers(tx);
        return addSecret(tx, id, given.secret);
      });
      await listeners.begin(applicationId);
      return { ...(await read(database, applicationId, id)), secret: secret.secret };
    },

    list: (applicationId: string): Promise<Webhook[]> => store.listWebhooks(database, applicationId, mostWebhooks),

    read: (applicationId: string, id: string): Promise<WebhookDetail> => read(database, applicationId, id),

    async change(applicationId: string, id: string, given: WebhookChange, note?: Note): Promise<WebhookDetail> {
      const found = await read(database, applicationId, id);
      if (given.url !== undefined) await requireUrl(given.url);
      if (given.status !== undefined && found.status === 'disabled') await endDeliveries(applicationId, id);
      const beganAnew = await change(
        applicationId,
        id,
        async (tx) => {
          const before = await read(tx, applicationId, id);
          const beginsAnew = given.status !== undefined && before.status === 'disabled';
          if (beginsAnew) {
            await addListener(tx, applicationId);
            await store.restartFromNewest(tx, id);
            // If it was disabled after the check above, `endDeliveries` has not run, and there may be too many deliveries to
            // end here.
            if ((await endWaiting(tx, id, clock.nowMs(), endAtOnce)) === endAtOnce) throw unavailable(disabledNow);
          }
          const { url, types, description, status } = distinct(given);
          const isResumed = before.status === 'paused' && status === 'active';
          // Failures of another address, or of the time before a pause, say nothing about now.
          if (isResumed || (url !== undefined && url !== before.url)) await forgetFailures(tx, id);
          await store.updateWebhook(tx, id, { url, types, description, status }, clock.nowMs());
          return beginsAnew;
        },
        note,
      );
      if (beganAnew) await listeners.begin(applicationId);
      return read(database, applicationId, id);
    },

    async remove(applicationId: string, id: string, note?: Note): Promise<void> {
      await change(applicationId, id, (tx) => store.markDeleting(tx, id, clock.nowMs()), note);
      await store.deleteWebhook(database, id);
      await database.transaction((tx) => stopListening(tx, clock.nowMs() - feedKeepsListeningMs, applicationId));
    },

    rotateSecret: (
      applicationId: string,
      id: string,
      overlapSeconds: number,
      note?: Note<NewSecret>,
      secret?: Buffer,
    ): Promise<NewSecret> =>
      change(
        applicationId,
        id,
        async (tx) => {
          const nowMs = clock.nowMs();
          await endSecrets(tx, id, nowMs + overlapSeconds * 1000, nowMs);
          if ((await listSecrets(tx, id, nowMs)).length >= mostSecrets) throw tooMany('secrets that sign', mostSecrets);
          return addSecret(tx, id, secret);
        },
        note as Note | undefined,
      ),

    async test(applicationId: string, id: string): Promise<TestOutcome> {
      if (!isId('whk', id)) throw notFound();
      await client.prepare();
      // The call begins before the lock is released, so no test follows a deletion that was answered.
      const { under, event, url } = await database.transaction(async (tx) => {
        if (!(await store.lockWebhook(tx, applicationId, id, 'share'))) throw notFound();
        const { url } = await read(tx, applicationId, id);
        const secrets = (await openSecrets(tx, keys, [id])).get(id) ?? [];
        const event = testEvent(applicationId, id, clock);
        return { under: attempt({ client, clock }, { url, secrets }, event), event, url };
      });
      const { timeMs, statusCode, milliseconds, error, outcome } = await under;
      if (outcome === 'delivered') await noteTested(applicationId, id);
      if (outcome === 'gone') await noteGone(id, url);
      const result = outcome === 'delivered' ? 'delivered' : 'failed';
      return { eventId: event.id, outcome: result, timeMs, statusCode, milliseconds, error };
    },
  };
}

function distinct<Given extends { types?: EventType[] | undefined }>(given: Given): Given {
  return given.types === undefined ? given : { ...given, types: [...new Set(given.types)] };
}

function testEvent(applicationId: string, webhookId: string, clock: Clock): EmittedEvent {
  return {
    id: newId('evt', clock),
    type: 'webhook.test',
    time: toTimestamp(clock.nowMs()),
    sequence: 1,
    subject: webhookId,
    api: null,
    application_id: applicationId,
    reference: null,
    data: { id: webhookId },
  };
}
