// Tests: test/contract/operator-now.test.ts
import { type Static, Type } from 'typebox';
import { type LaneQueue, readLaneQueues } from '../../delivery/queue/lanes.ts';
import type { CarrierService, LiveCarrier } from '../../delivery/setup/service.ts';
import { nullable } from '../../http/list-page.ts';
import { type Route, route } from '../../http/route.ts';
import type { Lane } from '../../messages/message.ts';
import { type Clock, hourMs, minuteMs, toTimestamp } from '../../platform/clock.ts';
import type { Database } from '../../platform/database/database.ts';
import { nameOfCarrier } from '../../quality/alerts/alert.ts';
import { listPresentAlerts } from '../../quality/alerts/store.ts';
import { addTexts, noTexts, outcomesOf, type TextSums } from '../../quality/analytics/figures.ts';
import { type CarrierHour, readLastHour } from '../../quality/analytics/last-hour.ts';
import { figures, toTextFigures } from '../developer/analytics-record.ts';
import { presentAlertSchema, toPresentAlert } from './alert-api.ts';
import { toCarrier } from './carrier-record.ts';

export interface NowRoutesOptions {
  database: Database;
  clock: Clock;
  carriers: Pick<CarrierService, 'list'>;
}

const laneSchema = Type.Object({
  waiting: Type.Integer({ description: 'Due and not sent; 10,000 means 10,000 or more' }),
  oldest_seconds: nullable(Type.Integer({ description: 'How long the oldest has been due' })),
});
const queueSchema = Type.Object({ codes: laneSchema, bulk: laneSchema });

const carrierSchema = Type.Object({
  name: Type.String({ examples: ['acme'] }),
  kind: Type.Unsafe<'carrier' | 'deleted' | 'handsets'>({
    type: 'string',
    enum: ['carrier', 'deleted', 'handsets'],
    description: 'handsets: the virtual ones of the sandbox',
  }),
  state: nullable(Type.String({ examples: ['up'], description: 'As of the carrier; null if it is deleted' })),
  paused: Type.Boolean(),
  reports: Type.Boolean({ description: 'Whether it sends receipts' }),
  errors: Type.Array(Type.String({ examples: ['smsc.example.com:2775 refuses connections.'] }), {
    description: 'Why connections are not up',
  }),
  queue: queueSchema,
  unanswered: Type.Integer({ description: 'Submits of the last hour without a usable answer' }),
  put_off: Type.Integer({ description: 'Submits of the last hour that it deferred: throttled, or not possible then' }),
  hour: Type.Object(figures, { description: 'Texts that were accepted in the last hour' }),
  countries: Type.Array(Type.Object({ country: nullable(Type.String()), ...figures }), {
    description: 'The texts of the last hour by country, the most texts first',
  }),
});

const nowSchema = Type.Object(
  {
    at: Type.String(),
    alerts: Type.Array(presentAlertSchema, {
      description: 'Causes before symptoms, with those that have not lasted long enough to be raised',
    }),
    more_alerts: Type.Boolean(),
    queue: queueSchema,
    carriers: Type.Array(carrierSchema, { description: 'Those with alerts first, then by name' }),
  },
  { title: 'Now' },
);
export type NowRecord = Static<typeof nowSchema>;
type CarrierNow = NowRecord['carriers'][number];

const mostAlerts = 50;
/** More carriers than the service accepts. */
const mostCarriers = 1000;
const mostCountries = 20;

/** What is wrong at this moment, for operators, in one request. */
export function createNowRoutes({ database, clock, carriers }: NowRoutesOptions): Route[] {
  async function read(): Promise<NowRecord> {
    const nowMs = clock.nowMs();
    // In sequence, so that a request uses one connection at a time.
    const alerts = await listPresentAlerts(database, nowMs, mostAlerts + 1);
    const queues = await readLaneQueues(database, nowMs);
    const hours = await readLastHour(database, nowMs - hourMs, nowMs + minuteMs);
    const live = await carriers.list(mostCarriers, undefined);
    const shown = alerts.slice(0, mostAlerts).map(toPresentAlert);
    const named = new Set(shown.map(({ carrier }) => carrier));
    const names = new Set(
      [...live, ...hours, ...queues.map((queue) => ({ name: nameOfCarrier(queue.carrier) }))].map(({ name }) => name),
    );
    const rows = [...names].map((name) =>
      toCarrierNow(name, {
        live: live.find((each) => each.name === name),
        hours: hours.filter((each) => each.name === name),
        queue: toQueue(
          queues.filter((each) => nameOfCarrier(each.carrier) === name),
          nowMs,
        ),
      }),
    );
    return {
      at: toTimestamp(nowMs),
      alerts: shown,
      more_alerts: alerts.length > mostAlerts,
      queue: toQueue(queues, nowMs),
      carriers: rows.toSorted(
        (a, b) => Number(named.has(b.name)) - Number(named.has(a.name)) || (a.name < b.name ? -1 : 1),
      ),
    };
  }

  return [
    route({
      method: 'GET',
      path: '/portal/v1/operator/now',
      auth: { kind: 'operator' },
      tag: 'Developer portal: operators',
      operationId: 'getNow',
      summary: 'Read what is wrong now: open alerts, the queue, and the last hour of each carrier',
      description: 'Nodes write their counts every 5 seconds.',
      answers: { 200: { description: 'The state of this moment', schema: nowSchema } },
      handler: async () => ({ status: 200, body: await read() }),
    }),
  ];
}

interface CarrierFacts {
  live: LiveCarrier | undefined;
  hours: CarrierHour[];
  queue: CarrierNow['queue'];
}

function toCarrierNow(name: string, { live, hours, queue }: CarrierFacts): CarrierNow {
  const record = live && toCarrier(live);
  const countries = hours
    .filter((sums) => outcomesOf(sums, true).texts > 0)
    .map(({ country, ...sums }) => ({ country: country === '' ? null : country, ...toTextFigures(sums, true) }))
    .toSorted((a, b) => b.texts - a.texts);
  return {
    name,
    kind: record !== undefined ? 'carrier' : name === 'sandbox' ? 'handsets' : 'deleted',
    state: record?.state ?? null,
    paused: record?.paused ?? false,
    reports: live?.settings.receipts !== 'none',
    errors: [...new Set(record?.binds.flatMap(({ error }) => error ?? []))],
    queue,
    unanswered: hours.reduce((sum, { unanswered }) => sum + unanswered, 0),
    put_off: hours.reduce((sum, { putOff }) => sum + putOff, 0),
    hour: toTextFigures(hours.reduce<TextSums>(addTexts, noTexts), true),
    countries: countries.slice(0, mostCountries),
  };
}

function toQueue(queues: readonly LaneQueue[], nowMs: number): CarrierNow['queue'] {
  return { codes: toLane(queues, 'first', nowMs), bulk: toLane(queues, 'bulk', nowMs) };
}

function toLane(queues: readonly LaneQueue[], lane: Lane, nowMs: number): CarrierNow['queue']['codes'] {
  const found = queues.filter((queue) => queue.lane === lane);
  const oldestAtMs = Math.min(...found.map((queue) => queue.oldestAtMs));
  return {
    waiting: found.reduce((sum, { waiting }) => sum + waiting, 0),
    oldest_seconds: found.length === 0 ? null : Math.max(0, Math.floor((nowMs - oldestAtMs) / 1000)),
  };
}
