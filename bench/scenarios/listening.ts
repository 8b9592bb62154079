import { moreCpu, percentRow } from '../abreast.ts';
import type { Bench, Product } from '../bench.ts';
import type { Row } from '../result-row.ts';
import { deliveredTexts } from './sms.ts';

/** What events cost: texts from their accept to their receipt with every application listening, against none. A text has two. */
export async function listening(bench: Bench): Promise<Row[]> {
  const benches = [await bench.another(), await bench.another()] as const;
  const quiet = await benches[0].startProduct({});
  const heard = await benches[1].startProduct({});
  for (const { apiKey } of heard.callers) await readFeed(heard, apiKey);
  const more = await moreCpu({
    baseline: { bench: benches[0], side: deliveredTexts(quiet) },
    subject: { bench: benches[1], side: deliveredTexts(heard) },
  });
  await requireEvents(heard);
  await Promise.all(benches.map((each) => each.stop()));
  return [percentRow('Events', 'Delivered text, every application listening: more CPU', more, 25)];
}

/** Each text has its two events, soon after the last receipt. */
async function requireEvents({ store }: Product): Promise<void> {
  const count = `select (select count(*) from event)::integer as events, (select count(*) from message)::integer as texts`;
  for (const untilMs = performance.now() + 10_000; ; await new Promise((done) => setTimeout(done, 200))) {
    const { rows } = await store.database.query<{ events: number; texts: number }>(count);
    const { events = 0, texts: sent = 0 } = rows[0] ?? {};
    if (events === 2 * sent) return;
    if (performance.now() > untilMs) throw new Error(`${sent} texts have ${events} events`);
  }
}

/** From then on the application listens. */
async function readFeed({ node }: Product, apiKey: string): Promise<void> {
  const { status } = await fetch(`http://127.0.0.1:${node.port}/events/v1/events`, { headers: { apikey: apiKey } });
  if (status !== 200) throw new Error(`the feed answered ${status}`);
}
