import type { PageRequest } from '../http/list-page.ts';
import type { Clock } from '../platform/clock.ts';
import { type Database, type Note, noted, type Tx } from '../platform/database/database.ts';
import { ApiError, notFound } from '../platform/errors.ts';
import { isId, newId } from '../platform/ids.ts';
import type { ChangeFeed } from './change-feed.ts';
import type { OwnApplications } from './own-applications.ts';
import { findAccountOf, lockAnyApplication } from './registry-store.ts';
import { type Approval, mostSenders, type Sender, type SenderStatus } from './sender.ts';
import * as store from './sender-store.ts';

export interface SenderServiceOptions {
  database: Database;
  clock: Clock;
  feed: Pick<ChangeFeed, 'change'>;
  own: OwnApplications;
  environment: 'sandbox' | 'production';
}

/** What a developer asks for. */
export type WantedSender = Pick<Sender, 'sender' | 'countries'>;

/** A sender that an operator decided, and its account. */
export type DecidedSender = Sender & { accountId: string | null };

export type SenderService = ReturnType<typeof createSenderService>;

const anyCarrier: Approval = { carriers: [], registration: null, perSecond: null };

/** Senders of applications. After a call returns, no node acts on the old state. */
export function createSenderService({ database, clock, feed, own, environment }: SenderServiceOptions) {
  /** Makes a sender that the application does not have yet. The transaction has locked the application. */
  async function newSender(tx: Tx, applicationId: string, { sender, countries }: WantedSender): Promise<Sender> {
    const existing = await store.listSenders(tx, applicationId);
    if (existing.some((other) => isSameWish(other, { sender, countries }) && other.status !== 'rejected')) {
      throw new ApiError('ALREADY_EXISTS', 'The application has this sender for these countries, or has asked for it.');
    }
    if (existing.length >= mostSenders) throw tooManySenders();
    return {
      ...{ id: newId('snd', clock), applicationId, sender, countries: sorted(countries) },
      ...{ status: 'pending', ...anyCarrier, reason: null, createdAtMs: clock.nowMs(), decidedAtMs: null },
    };
  }

  const approved = (sender: Sender, approval: Approval): Sender => {
    return { ...sender, ...approval, status: 'approved', reason: null, decidedAtMs: clock.nowMs() };
  };

  /** Operators may decide again: to limit a sender, or to take it back. */
  async function decide(id: string, rule: (sender: Sender) => Sender, note?: Note<DecidedSender>): Promise<Sender> {
    const found = isId('snd', id) ? await store.findSender(database, id) : undefined;
    if (found === undefined) throw notFound();
    return feed.change(found.applicationId, async (tx) => {
      const existing = await store.lockSender(tx, id);
      if (existing === undefined) throw notFound();
      const decided = rule(existing);
      await store.putSender(tx, decided);
      await note?.(tx, { ...decided, accountId: await findAccountOf(tx, decided.applicationId) });
      return decided;
    });
  }

  return {
    /** A developer asks for a sender. The sandbox approves it at once. */
    ask(accountId: string, applicationId: string, wanted: WantedSender, note?: Note<Sender>): Promise<Sender> {
      const put = async (tx: Tx) => {
        const made = await newSender(tx, applicationId, wanted);
        const sender = environment === 'sandbox' ? approved(made, anyCarrier) : made;
        await store.putSender(tx, sender);
        return sender;
      };
      return own.change(accountId, applicationId, put, note);
    },

    async listOwn(accountId: string, applicationId: string): Promise<Sender[]> {
      await own.require(accountId, applicationId);
      return store.listSenders(database, applicationId);
    },

    async removeOwn(accountId: string, applicationId: string, id: string, note?: Note): Promise<void> {
      if (!isId('snd', id)) throw notFound();
      const remove = async (tx: Tx) => {
        if (!(await store.deleteSender(tx, applicationId, id))) throw notFound();
      };
      await own.change(accountId, applicationId, remove, note);
    },

    list: (status: SenderStatus, page: PageRequest) => store.listByStatus(database, status, page),

    listOf: (applicationId: string) => store.listSenders(database, applicationId),

    approve: (id: string, approval: Approval, note?: Note<DecidedSender>) =>
      decide(id, (sender) => approved(sender, approval), note),

    reject: (id: string, reason: string, note?: Note<DecidedSender>) =>
      decide(id, (sender) => ({ ...sender, status: 'rejected', reason, decidedAtMs: clock.nowMs() }), note),

    /** An operator gives an application a sender; one that it has for these countries is approved as given. */
    async give(
      applicationId: string,
      wanted: WantedSender,
      approval: Approval = anyCarrier,
      note?: Note<Sender>,
    ): Promise<Sender> {
      if (!isId('app', applicationId)) throw notFound();
      const give = async (tx: Tx) => {
        if (!(await lockAnyApplication(tx, applicationId))) throw notFound();
        const existing = (await store.listSenders(tx, applicationId)).find((other) => isSameWish(other, wanted));
        const sender = approved(existing ?? (await newSender(tx, applicationId, wanted)), approval);
        await store.putSender(tx, sender);
        return sender;
      };
      return feed.change(applicationId, noted(give, note));
    },

    /** An operator takes a sender from an application. */
    async remove(applicationId: string, id: string, note?: Note): Promise<void> {
      if (!isId('app', applicationId) || !isId('snd', id)) throw notFound();
      const remove = async (tx: Tx) => {
        if (!(await store.deleteSender(tx, applicationId, id))) throw notFound();
      };
      await feed.change(applicationId, noted(remove, note));
    },
  };
}

/** Whether two requests are for the same sender and the same countries. */
export function isSameWish(a: WantedSender, b: WantedSender): boolean {
  return withoutPlus(a) === withoutPlus(b) && sorted(a.countries).join() === sorted(b.countries).join();
}

/** Without the plus: a number is the same sender with and without it. */
const withoutPlus = ({ sender }: WantedSender) => sender.replace(/^\+/, '');

function sorted(countries: string[]): string[] {
  return [...new Set(countries)].sort();
}

function tooManySenders(): ApiError {
  return new ApiError(
    'INCOMPATIBLE_STATE',
    `The application has ${mostSenders} senders, the maximum. Delete one first.`,
  );
}
