import type { Bench } from '../bench.ts';
import { type Kannel, kannelText, startKannel } from '../kannel.ts';
import { many } from '../requests.ts';
import { type Row, ratioRow } from '../result-row.ts';
import { type Comparison, compare, type Side } from '../rounds.ts';
import { type BenchSmsc, connectCarrier, startSmsc } from '../smsc.ts';
import { echoed } from './against-fastify.ts';
import { batches, drain, text, texts } from './sms.ts';

const group = 'HTTP in to SMPP out';

/** Texts that an SMSC has got over SMPP, by the service in production, and by Kannel if it is installed. */
export async function smpp(given: Bench): Promise<Row[]> {
  // A round lasts until its last text has arrived. In a short one that wait would be a large part of it.
  const bench = { ...given, pace: { ...given.pace, roundMs: given.pace.roundMs * 3 } };
  const smsc = await startSmsc(bench);
  // The sandbox shows each text on a virtual phone too.
  const product = await bench.startProduct({ HELIOGRAPH_ENV: 'production', HELIOGRAPH_SENDERS: 'open' });
  await connectCarrier(bench, product, { port: smsc.port, window: 100 });
  const ours: Side = {
    servers: [product.node],
    requests: () => texts(product.callers),
    status: '201',
    arrived: smsc.arrived,
    async leftBehind() {
      await drain(product.store);
      return 0;
    },
  };
  const rows = [
    ratioRow(group, 'Against bare Fastify', await compare(bench, { baseline: echoed(bench, ours), subject: ours })),
  ];
  const kannel = await startKannel(bench.folder, smsc.port);
  if (kannel === undefined) bench.say('         Kannel is not installed (Debian: kannel), so it is left out');
  else {
    bench.atEnd(kannel.stop);
    // Kannel asks for no receipts either, since it would pass each on by HTTP. A change acts within 2 s.
    await connectCarrier(bench, product, { port: smsc.port, window: 100, receipts: 'none' });
    await new Promise((done) => setTimeout(done, 3000));
    const measured = await compare(bench, { baseline: kannelSide(kannel, smsc), subject: ours });
    rows.push(ratioRow(group, 'Against Kannel, which keeps texts in memory; no receipts', measured, 1));
    rows.push(kannelRow('Kannel itself', measured));
    const together: Side = {
      ...ours,
      requests: () => batches(product.callers),
      status: '200',
      textsPerRequest: 100,
    };
    const measuredTogether = await compare(bench, { baseline: kannelSide(kannel, smsc, 100), subject: together });
    rows.push(ratioRow(group, 'The same, a hundred texts in each request to either', measuredTogether, 1));
    rows.push(kannelRow('Kannel itself, a hundred texts in each request', measuredTogether));
    await kannel.stop();
  }
  await product.node.stop();
  return rows;
}

/** What a text costs Kannel, all its processes together. */
function kannelRow(name: string, { baseline: { perSecond, cpuMicroseconds } }: Comparison): Row {
  const value = { median: perSecond, low: perSecond, high: perSecond };
  return { group, name, unit: '/s', value, perSecond, cpuMicroseconds };
}

function kannelSide(kannel: Kannel, { arrived }: BenchSmsc, textsPerRequest = 1): Side {
  const numbers = many(1000, (index) => `+4477009${String(index).padStart(5, '0')}`);
  // It sends one text to all numbers of a request.
  const requests = many(1000 / textsPerRequest, (index) => {
    const to = numbers.slice(index * textsPerRequest, (index + 1) * textsPerRequest).join(' ');
    return kannelText(to, text.from, text.message);
  });
  return {
    servers: [kannel],
    requests: () => requests,
    status: '202',
    textsPerRequest,
    arrived,
    async leftBehind() {
      while ((await kannel.queued()) > 0) await new Promise((done) => setTimeout(done, 50));
      return 0;
    },
  };
}
