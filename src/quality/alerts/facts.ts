import { X509Certificate } from 'node:crypto';
import { type CarrierBind, readBinds } from '../../delivery/carrier/bind-store.ts';
import { type CarrierRow, carrierKey, readCarriers } from '../../delivery/carrier/store.ts';
import { type QueueAge, readQueueAges } from '../../delivery/queue/ages.ts';
import { countUnmatchedBetween } from '../../delivery/receipts/awaited-texts.ts';
import { readSpendAlerts, type SpendAlert } from '../../messages/spend-store.ts';
import { dayMs, hourMs, minuteMs } from '../../platform/clock.ts';
import type { Tx } from '../../platform/database/database.ts';
import { type HoldRow, listHolds } from '../guard-hold-store.ts';
import { type MinuteTotals, readAnswerTimes, readMinutes } from '../minute-store.ts';
import { type OutcomeTotal, type RecentOutcome, readOutcomes, readRecentOutcomes } from '../outcome-store.ts';
import { dayOf, readTotals } from '../total-store.ts';

/** The input of the rules: rows of Postgres, so that any node can judge. */
export interface AlertFacts {
  nowMs: number;
  carriers: CarrierFacts[];
  queues: QueueAge[];
  /** Answer times of the last five minutes. */
  answers: { carrier: string; took: number[] }[];
  /** Answers and reports of the last 3 minutes, and of the last 15. */
  outcomes: { lately: RecentOutcome[]; longer: OutcomeTotal[] };
  /** Texts that were accepted 90 to 30 minutes ago: most receipts have come. */
  settled: MinuteTotals[];
  /** Receipts of the last hour that match no text after a minute. */
  unmatched: { carrier: string; count: number }[];
  /** Codes and approvals by carrier and country: recent, and earlier. */
  codes: CodeFacts[];
  spend: SpendAlert[];
  /** Verifications that the guard holds back, or only reports. */
  holds: HoldRow[];
}

/** Sums of an hour or of days, and queues in which texts may wait for minutes: they hardly change between two polls. */
export type SlowFacts = Pick<AlertFacts, 'settled' | 'unmatched' | 'codes' | 'queues'>;

export interface CarrierFacts {
  key: string;
  name: string;
  paused: boolean;
  /** Whether the carrier sends receipts. */
  reports: boolean;
  binds: CarrierBind[];
  certificates: Certificate[];
}

export interface Certificate {
  what: string;
  endsAtMs: number;
}

export interface CodeFacts {
  carrier: string;
  country: string;
  lately: { codes: number; approved: number };
  before: { codes: number; approved: number };
}

/** A receipt younger than this may still find its text. */
const matchedWithinMs = minuteMs;
const mostUnmatched = 10_000;
const mostSpend = 1000;
const mostHolds = 1000;
const baselineDays = 14;
const mostGroups = 5000;
/** Fewer codes than this are not significant. */
export const enoughCodes = 200;

/** Slow facts are read only if none are given. */
export async function readFacts(tx: Tx, nowMs: number, slow?: SlowFacts): Promise<AlertFacts> {
  const rows = await readCarriers(tx);
  const binds = await readBinds(
    tx,
    rows.map(({ id }) => id),
    nowMs,
  );
  const slowFacts = slow === undefined ? await readSlowFacts(tx, nowMs) : slowOf(slow);
  return {
    ...slowFacts,
    nowMs,
    carriers: rows.map((row) => toFacts(row, binds)),
    queues: [...(await readQueueAges(tx, nowMs, ['first'])), ...slowFacts.queues],
    answers: await readAnswerTimes(tx, nowMs - 5 * minuteMs, nowMs + minuteMs),
    outcomes: {
      lately: await readRecentOutcomes(tx, nowMs - 3 * minuteMs, nowMs + minuteMs),
      longer: await readOutcomes(tx, nowMs - 15 * minuteMs, nowMs + minuteMs),
    },
    spend: await readSpendAlerts(tx, nowMs, mostSpend),
    holds: await listHolds(tx, { state: 'open', nowMs, applicationId: undefined, limit: mostHolds, after: undefined }),
  };
}

async function readSlowFacts(tx: Tx, nowMs: number): Promise<SlowFacts> {
  return {
    settled: await readMinutes(tx, nowMs - 90 * minuteMs, nowMs - 30 * minuteMs),
    unmatched: await countUnmatchedBetween(tx, nowMs - hourMs, nowMs - matchedWithinMs, mostUnmatched),
    codes: await readCodes(tx, nowMs),
    queues: await readQueueAges(tx, nowMs, ['bulk']),
  };
}

function slowOf({ settled, unmatched, codes, queues }: SlowFacts): SlowFacts {
  return { settled, unmatched, codes, queues: queues.filter(({ lane }) => lane === 'bulk') };
}

function toFacts(row: CarrierRow, binds: CarrierBind[]): CarrierFacts {
  const { name, paused, settings } = row;
  return {
    key: carrierKey(row),
    name,
    paused,
    reports: settings.receipts !== 'none',
    binds: binds.filter(({ carrierId }) => carrierId === row.id),
    certificates: certificatesOf(settings.tls),
  };
}

const pemBegin = '-----BEGIN CERTIFICATE-----';
const mostCertificates = 20;

/** The certificates in an operator's settings. */
function certificatesOf(tls: unknown): Certificate[] {
  if (typeof tls !== 'object' || tls === null) return [];
  const { cert, ca } = tls as { cert?: unknown; ca?: unknown };
  return [...read('our certificate', cert), ...read('a certificate of ca', ca)];
}

function read(what: string, pem: unknown): Certificate[] {
  const [, ...blocks] = typeof pem === 'string' ? pem.split(pemBegin, mostCertificates + 1) : [];
  return blocks.flatMap((block) => {
    try {
      return [{ what, endsAtMs: Date.parse(new X509Certificate(pemBegin + block).validTo) }];
    } catch {
      // The settings were checked when they were written; a block that no longer parses is no reason to stop watching.
      return [];
    }
  });
}

/** Counts of today, with yesterday if today has too few; and of the two weeks before. */
async function readCodes(tx: Tx, nowMs: number): Promise<CodeFacts[]> {
  const span = (fromMs: number, toMs: number) =>
    readTotals(tx, { from: dayOf(fromMs), to: dayOf(toMs), by: ['carrier', 'country'], limit: mostGroups });
  const today = await span(nowMs, nowMs);
  const yesterday = await span(nowMs - dayMs, nowMs - dayMs);
  const before = await span(nowMs - (baselineDays + 1) * dayMs, nowMs - 2 * dayMs);
  const nothing = { codes: 0, approved: 0 };
  const find = (rows: typeof today, { carrier, country }: (typeof today)[number]) =>
    rows.find((row) => row.carrier === carrier && row.country === country) ?? nothing;
  return before
    .filter(({ codes }) => codes >= enoughCodes)
    .map((row) => {
      const [now, then] = [find(today, row), find(yesterday, row)];
      const both = { codes: now.codes + then.codes, approved: now.approved + then.approved };
      const { codes, approved } = now.codes >= enoughCodes ? now : both;
      const { carrier = '', country = '' } = row;
      return {
        carrier,
        country,
        lately: { codes, approved },
        before: { codes: row.codes, approved: row.approved },
      };
    });
}
