import type { Bench } from '../bench.ts';
import { type Kannel, kannelText, startKannel } from '../kannel.ts';
import { many } from '../requests.ts';
import { type Row, ratioRow } from '../result-row.ts';
import { compare, type Side } from '../rounds.ts';
import { connectCarrier, startSmsc } from '../smsc.ts';
import { echoed } from './against-fastify.ts';
import { backlog, batches, drain, text, texts } from './sms.ts';

const group = 'HTTP in to SMPP out';

/** Texts that an SMSC has got over SMPP, by the service as a user starts it, and by Kannel if it is installed. */
export async function smpp(bench: Bench): Promise<Row[]> {
  const smsc = await startSmsc(bench);
  const product = await bench.startProduct({});
  await connectCarrier(bench, product, { port: smsc.port, window: 100 });
  const ours: Side = {
    servers: [product.node],
    requests: () => texts(product.callers),
    status: '201',
    async leftBehind() {
      const left = await backlog(product.store);
      await drain(product.store);
      return left;
    },
    untilNothingIsLeft: true,
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
    const measured = await compare(bench, { baseline: kannelSide(kannel), subject: ours });
    bench.say(`         Kannel: ${Math.round(measured.baseline.perSecond)} a second`);
    rows.push(ratioRow(group, 'Against Kannel, which keeps texts in memory; no receipts', measured, 1));
    const together: Side = {
      ...ours,
      requests: () => batches(product.callers),
      status: '200',
      // Few requests at a time: each of them fills the window.
      connections: 4,
      textsPerRequest: 100,
    };
    const measuredTogether = await compare(bench, { baseline: kannelSide(kannel), subject: together });
    rows.push(ratioRow(group, 'The same, a hundred texts in each request to us', measuredTogether));
    await kannel.stop();
  }
  await product.node.stop();
  return rows;
}

function kannelSide(kannel: Kannel): Side {
  const requests = many(1000, (index) =>
    kannelText(`+4477009${String(index).padStart(5, '0')}`, text.from, text.message),
  );
  return {
    servers: [kannel],
    requests: () => requests,
    status: '202',
    async leftBehind() {
      const left = await kannel.queued();
      while ((await kannel.queued()) > 0) await new Promise((done) => setTimeout(done, 50));
      return left;
    },
    untilNothingIsLeft: true,
  };
}
