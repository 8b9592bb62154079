import type { EmittedEvent } from '../../src/events/event.ts';
import { type EventType, typeCode } from '../../src/events/event.ts';
import { type Api, apiNames } from '../../src/http/route.ts';
import type { Tx } from '../../src/platform/database/database.ts';
import { uuidOf } from '../../src/platform/ids.ts';
import type { TestApp } from './app.ts';
import { type Answer, send } from './developer.ts';
import type { Refusal } from './texts.ts';

export interface EventPage {
  data: EmittedEvent[];
  next_cursor: string;
}

export const feedPath = '/events/v1/events';
export const streamPath = '/events/v1/stream';

type Headers = Record<string, string>;
type Query = Record<string, string | number>;

const addressOf = (path: string, query: Query) =>
  `${path}?${new URLSearchParams(Object.entries(query).map(([name, value]): [string, string] => [name, String(value)]))}`;

/** Reads a page. On a busy machine a caller's turn may come too late: it asks again, as the 503 says. */
export async function readFeed(
  app: Pick<TestApp, 'url'>,
  headers: Headers,
  query: Query = {},
): Promise<Answer<EventPage>> {
  for (;;) {
    const answer = await send<EventPage>(app, 'GET', addressOf(feedPath, query), { headers });
    if (answer.status !== 503) return answer;
  }
}

export function refusedFeed(app: Pick<TestApp, 'url'>, headers: Headers, query: Query = {}): Promise<Answer<Refusal>> {
  return send<Refusal>(app, 'GET', addressOf(feedPath, query), { headers });
}

/** Begins to listen: a cursor of now. */
export async function beginFeed(app: Pick<TestApp, 'url'>, headers: Headers): Promise<string> {
  const { status, body } = await readFeed(app, headers);
  if (status !== 200) throw new Error(`the feed answered ${status} ${JSON.stringify(body)}`);
  return body.next_cursor;
}

/** Reads from the cursor until there are that many events, by waiting requests. Time goes on, so that phones report. */
export async function readUntil(
  app: Pick<TestApp, 'url' | 'clock'>,
  headers: Headers,
  cursor: string,
  count: number,
  query: Query = {},
): Promise<EmittedEvent[]> {
  const events: EmittedEvent[] = [];
  for (let next = cursor, pages = 0; events.length < count; pages++) {
    if (pages > 60) throw new Error(`there are only ${events.length} of ${count} events`);
    app.clock.advance(100);
    const { status, body } = await readFeed(app, headers, { wait_seconds: 1, ...query, cursor: next });
    if (status !== 200) throw new Error(`the feed answered ${status} ${JSON.stringify(body)}`);
    events.push(...body.data);
    next = body.next_cursor;
  }
  return events;
}

export interface WrittenEvent {
  api?: Api;
  type?: EventType;
  subject: string;
}

/** Writes events as a change would; their records are not there. */
export async function writeEvents(tx: Tx, applicationId: string, events: WrittenEvent[]): Promise<void> {
  await tx.query(
    `insert into event (application_id, subject, time, sequence, type, api)
     select $1, e.subject, now(), 1, e.type, e.api
     from unnest($2::uuid[], $3::smallint[], $4::smallint[]) with ordinality as e (subject, type, api, place)
     order by e.place`,
    [
      uuidOf(applicationId),
      events.map(({ subject }) => uuidOf(subject)),
      events.map(({ type = 'message.sent' }) => typeCode(type)),
      events.map(({ api = 'sms' }) => apiNames.indexOf(api)),
    ],
  );
}
