// Tests: test/parts/sender-pace.test.ts
import type { Lane } from '../../messages/message.ts';
import { createBoundedMap } from '../../platform/bounded-map.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Database } from '../../platform/database/database.ts';
import type { Log } from '../../platform/log.ts';
import { createPoller } from '../../platform/work/poller.ts';
import type { Answer, Carrier, OutgoingText, Progress } from './carrier.ts';
import { type AllowedTexts, takeTurns, type WantedTexts } from './sender-pace-store.ts';
import { nextTokenMs } from './sender-tokens.ts';

/** A sender of an application with a maximum number of texts a second. */
export interface SenderRate {
  applicationId: string;
  sender: string;
  perSecond: number;
}

export interface SenderPaceOptions {
  database: Database;
  clock: Clock;
  log: Log;
  readRates: () => Promise<SenderRate[]>;
}

const readEveryMs = 1800;
/** Maximum time until a held text is tried again. */
const longestHoldMs = 60_000;
const retryMs = 1000;

/** A text, and its index in the call to `submit`. */
interface IndexedText {
  text: OutgoingText;
  index: number;
}

/** Holds back texts of senders that have reached their rate, over all nodes and carriers. */
export function createSenderPace({ database, clock, log, readRates }: SenderPaceOptions) {
  let rates = new Map<string, SenderRate>();
  const poller = createPoller({ run: refresh, pauseMs: readEveryMs });
  /** When the last held text may be sent, by lane and sender: the next one follows it. */
  const lastDueMs = createBoundedMap<string, number>(10_000);

  async function refresh(): Promise<void> {
    try {
      const rows = await readRates();
      rates = new Map(rows.map((rate) => [nameOf(rate.applicationId, rate.sender), rate]));
    } catch (error) {
      log.debug(
        { reason: (error as Error).message },
        'the rate limits of senders could not be read; those read last stay in use',
      );
    }
  }

  /** Submits the texts that may be sent now, and returns the rest unchanged. */
  async function submitInTurn(carrier: Carrier, texts: IndexedText[], ...report: Report): Promise<void> {
    const [answer] = report;
    const groups = groupByRate(texts);
    const wanted = groups.map(([rate, group]) => wantedOf(rate, group));
    const turns = await takeTurns(database, wanted, clock.nowMs()).catch((error: Error) => {
      log.warn(
        { carrier: carrier.key, reason: error.message },
        'the rate limits of senders could not be checked; their texts will be retried',
      );
      return [];
    });
    const going: IndexedText[] = [];
    for (const [index, [rate, group]] of groups.entries()) {
      const turn = turns[index];
      const left = { first: turn?.first ?? 0, bulk: turn?.bulk ?? 0 };
      for (const each of group) {
        if (left[each.text.lane]-- > 0) going.push(each);
        else answer(each.index, { outcome: 'not_sent', afterMs: turn ? holdMs(rate, turn, each.text.lane) : retryMs });
      }
    }
    if (going.length > 0) await submitSome(carrier, going, ...report);
  }

  function groupByRate(texts: IndexedText[]): [SenderRate, IndexedText[]][] {
    const groups = new Map<SenderRate, IndexedText[]>();
    for (const each of texts) {
      const rate = rateOf(each);
      if (rate === undefined) continue;
      const group = groups.get(rate);
      if (group === undefined) groups.set(rate, [each]);
      else group.push(each);
    }
    return [...groups];
  }

  const rateOf = ({ text }: IndexedText) => rates.get(nameOf(text.applicationId, text.from));

  /** The wait of a text: until the sender's next token, and after the texts of its lane that already wait for one. */
  function holdMs({ applicationId, sender, perSecond }: SenderRate, { after }: AllowedTexts, lane: Lane): number {
    const name = `${lane} ${nameOf(applicationId, sender)}`;
    const nowMs = clock.nowMs();
    const borrowed = lane === 'first' ? perSecond : 0;
    const nextMs = nextTokenMs({ ...after, tokens: after.tokens + borrowed }, perSecond);
    const dueMs = Math.max(nextMs, (lastDueMs.get(name) ?? 0) + 1000 / perSecond);
    const heldMs = Math.min(dueMs, nowMs + longestHoldMs);
    lastDueMs.set(name, heldMs);
    return Math.ceil(heldMs - nowMs);
  }

  return {
    /** Reads the rates now, and then every two seconds. */
    async start(): Promise<void> {
      await refresh();
      poller.start();
    },
    stop: (): void => void poller.stop(),
    /** Reads the rates now. */
    refresh,
    /** Wraps a carrier so that each sender keeps to its rate. */
    pace(carrier: Carrier): Carrier {
      const waiting = { first: 0, bulk: 0 };
      const wait = (texts: IndexedText[], sign: 1 | -1) => {
        for (const { text } of texts) waiting[text.lane] += sign;
      };
      const paced: Pick<Carrier, 'capacity' | 'submit'> = {
        // Texts that wait for their turn take room, as if the carrier had them.
        capacity() {
          const { first, bulk } = carrier.capacity();
          return { first: first - waiting.first, bulk: bulk - waiting.bulk };
        },
        async submit(texts, ...report) {
          if (rates.size === 0) return carrier.submit(texts, ...report);
          const all = texts.map((text, index) => ({ text, index }));
          const limited = all.filter((each) => rateOf(each) !== undefined);
          if (limited.length === 0) return carrier.submit(texts, ...report);
          const others = all.filter((each) => rateOf(each) === undefined);
          wait(limited, 1);
          const inTurn = submitInTurn(carrier, limited, ...report).finally(() => wait(limited, -1));
          await Promise.all([inTurn, others.length > 0 && submitSome(carrier, others, ...report)]);
        },
      };
      return Object.assign(Object.create(carrier) as Carrier, paced);
    },
  };
}

type Report = [answer: Answer, progress?: Progress];

function submitSome(carrier: Carrier, some: IndexedText[], ...[answer, progress]: Report): Promise<void> {
  const indexOf = (position: number) => some[position]?.index ?? -1;
  return carrier.submit(
    some.map(({ text }) => text),
    (position, result) => answer(indexOf(position), result),
    (position, ...news) => progress?.(indexOf(position), ...news),
  );
}

/** Names a sender, whether its number is written with a plus or without. */
function nameOf(applicationId: string, sender: string): string {
  return `${applicationId} ${sender.replace(/^\+(\d+)$/, '$1')}`;
}

function wantedOf({ applicationId, sender, perSecond }: SenderRate, texts: IndexedText[]): WantedTexts {
  const count = (lane: Lane) => texts.filter(({ text }) => text.lane === lane).length;
  return { applicationId, sender, perSecond, first: count('first'), bulk: count('bulk') };
}
