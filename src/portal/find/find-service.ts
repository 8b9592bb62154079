import { likeAny, listAccounts } from '../../accounts/people/account-store.ts';
import { findTextsByCarrierId } from '../../delivery/receipts/carrier-id-search.ts';
import type { Message } from '../../messages/message.ts';
import { findMessages } from '../../messages/message-store.ts';
import { findApplicationOfTexts } from '../../messages/numbers/number-search-store.ts';
import { readNationalNumber } from '../../messages/numbers/phone-number.ts';
import { findApplicationOfTrace } from '../../metering/metering-store.ts';
import { type Clock, dayMs, toTimestamp } from '../../platform/clock.ts';
import type { Database } from '../../platform/database/database.ts';
import { dayOf, readTotals } from '../../quality/total-store.ts';
import type { WaitStories } from '../../quality/waiting/stories.ts';
import {
  type FoundApplication,
  findApplicationHaving,
  findApplicationsById,
  findApplicationsByName,
  isOwnedPrefix,
  type OwnedPrefix,
} from '../../registry/found-store.ts';
import { findAnyVerification, findApplicationOfStart } from '../../verify/number-search-store.ts';
import type { Verification } from '../../verify/verification.ts';
import { findApplicationOf as findApplicationOfWebhook } from '../../webhooks/store.ts';
import type { RequestStory } from '../developer/request-api.ts';
import type { RequestStories } from '../developer/request-story.ts';
import {
  type FindPage,
  type Found,
  type FoundType,
  foundAccount,
  foundApplication,
  foundPart,
  foundRecord,
  foundRequest,
} from './found.ts';
import { searchNumbers } from './number-search.ts';
import { readSearchText, type SearchText } from './search-text.ts';

export interface FindOptions {
  database: Database;
  clock: Clock;
  stories: Pick<RequestStories, 'findWithin'>;
  waits: WaitStories;
  /** Writes this node's traces, so that the reader finds the latest. */
  flush: () => Promise<void>;
  /** Numbers of older records are masked. */
  retentionDays: number;
  applicationIdsOf: (accountId: string) => Promise<string[]>;
}

/** Which accounts to search: one, or all for an operator. */
export type Scope = { accountId: string } | 'all';

export interface FindRequest {
  text: string;
  limit: number;
  after: string | undefined;
}

export type FindService = ReturnType<typeof createFindService>;

const mostNamed = 8;
/** Digits without a country code are tried in the countries with the most texts of two days. */
const mostCountries = 5;
const typeOf: Record<OwnedPrefix | 'whk', FoundType> = {
  key: 'key',
  cli: 'client',
  sec: 'client',
  cky: 'client',
  reg: 'registration',
  snd: 'sender',
  whk: 'webhook',
};

/** Finds records, applications and accounts by an id, a number or a name. Each lookup uses an index and has a bound. */
export function createFindService(options: FindOptions) {
  const { database, clock, stories, flush, retentionDays, applicationIdsOf } = options;
  const isWithin = (scope: Scope, owner: Pick<FoundApplication, 'accountId'> | undefined) =>
    scope === 'all' || owner?.accountId === scope.accountId;

  /** Records in the order given, without those outside the scope. Operators see masked numbers. */
  async function toFound(scope: Scope, records: (Message | Verification)[]): Promise<Found[]> {
    const owners = await findApplicationsById(
      database,
      records.map(({ applicationId }) => applicationId),
    );
    return records.flatMap((record) => {
      const owner = owners.get(record.applicationId);
      const how = { owner, masked: scope === 'all', nowMs: clock.nowMs() };
      return isWithin(scope, owner) ? [foundRecord(record, how)] : [];
    });
  }

  /** The records of these texts; the text of a verification is replaced by the verification. */
  async function findRecords(messageIds: string[]): Promise<(Message | Verification)[]> {
    const found: (Message | Verification)[] = [];
    for (const message of await findMessages(database, messageIds)) {
      const { verificationId } = message;
      found.push((verificationId !== null && (await findAnyVerification(database, verificationId))) || message);
    }
    return found;
  }

  /** The application that made a request, of any account. */
  async function findRequester(correlationId: string): Promise<string | undefined> {
    return (
      (await findApplicationOfTexts(database, correlationId)) ??
      (await findApplicationOfStart(database, correlationId)) ??
      (await findApplicationOfTrace(database, correlationId, clock.nowMs()))
    );
  }

  async function findStory(scope: Scope, correlationId: string): Promise<RequestStory | undefined> {
    await flush();
    const requester = scope === 'all' ? await findRequester(correlationId) : undefined;
    const own =
      scope === 'all' ? [requester].filter((id) => id !== undefined) : await applicationIdsOf(scope.accountId);
    return own.length === 0 ? undefined : stories.findWithin(own, correlationId);
  }

  async function findById(scope: Scope, { prefix, id }: NonNullable<SearchText['id']>): Promise<Found[]> {
    if (prefix === 'msg') return toFound(scope, await findRecords([id]));
    if (prefix === 'ver') {
      const verification = await findAnyVerification(database, id);
      return toFound(scope, verification === undefined ? [] : [verification]);
    }
    if (prefix === 'req') {
      const story = await findStory(scope, id);
      if (story === undefined) return [];
      const owners = await findApplicationsById(database, [story.applicationId]);
      return [foundRequest(story, owners.get(story.applicationId))];
    }
    if (prefix === 'acc') return scope === 'all' ? findAccounts(id) : [];
    const owning = await findOwning(prefix, id);
    if (owning === undefined) return [];
    const application = (await findApplicationsById(database, [owning])).get(owning);
    if (application === undefined || !isWithin(scope, application)) return [];
    return [prefix === 'app' ? foundApplication(application) : foundPart(typeOf[prefix], id, application)];
  }

  async function findOwning(prefix: OwnedPrefix | 'whk' | 'app', id: string): Promise<string | undefined> {
    if (prefix === 'app') return id;
    return isOwnedPrefix(prefix) ? findApplicationHaving(database, prefix, id) : findApplicationOfWebhook(database, id);
  }

  async function findAccounts(text: string): Promise<Found[]> {
    const accounts = await listAccounts(database, text, { limit: mostNamed, after: undefined });
    return accounts.map(foundAccount);
  }

  async function findNamed(scope: Scope, name: string | undefined): Promise<Found[]> {
    if (name === undefined) return [];
    const accountId = scope === 'all' ? undefined : scope.accountId;
    const wanted = { name: likeAny(name), accountId, limit: mostNamed };
    const applications = await findApplicationsByName(database, wanted);
    const accounts = scope === 'all' ? await findAccounts(name) : [];
    return [...applications.map(foundApplication), ...accounts];
  }

  /** Reads the digits as a number of each of the countries to which the service sends most. */
  async function readNational(digits: string | undefined): Promise<string[]> {
    if (digits === undefined) return [];
    const nowMs = clock.nowMs();
    const totals = await readTotals(database, {
      from: dayOf(nowMs - dayMs),
      to: dayOf(nowMs),
      by: ['country'],
      limit: 300,
    });
    const countries = totals.toSorted((a, b) => b.sent - a.sent).slice(0, mostCountries);
    return countries.flatMap(({ country = '' }) => readNationalNumber(digits, country) ?? []);
  }

  async function findByNumber(scope: Scope, search: SearchText, { limit, after }: FindRequest) {
    const numbers = [...new Set([...search.numbers, ...(await readNational(search.national))])];
    if (numbers.length === 0) return { records: [], next: undefined, unindexedMs: [] };
    const nowMs = clock.nowMs();
    return searchNumbers(database, {
      numbers,
      applicationIds: scope === 'all' ? undefined : await applicationIdsOf(scope.accountId),
      limit,
      after,
      nowMs,
      // A text is masked some time after its retention, once it has been sent.
      oldestMs: nowMs - (retentionDays + 8) * dayMs,
    });
  }

  return {
    findStory,
    findRecords,

    /** A page of results. Later pages hold older records of a number. */
    async find(scope: Scope, request: FindRequest): Promise<FindPage> {
      const search = readSearchText(request.text);
      if (search.id !== undefined) {
        return { data: await findById(scope, search.id), next_cursor: null, indexing: [] };
      }
      const isFirst = request.after === undefined;
      const page = await findByNumber(scope, search, request);
      // Developers do not know the ids of carriers.
      const byCarrier = isFirst && scope === 'all' && search.carrierId !== undefined ? search.carrierId : undefined;
      const ofCarrier =
        byCarrier === undefined ? [] : await findRecords(await findTextsByCarrierId(database, byCarrier));
      return {
        data: [
          ...(await toFound(scope, [...ofCarrier, ...page.records])),
          ...(isFirst ? await findNamed(scope, search.name) : []),
        ],
        next_cursor: page.next === undefined ? null : Buffer.from(page.next).toString('base64url'),
        indexing: page.unindexedMs.map(toTimestamp),
      };
    },
  };
}
