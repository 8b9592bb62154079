import { request } from 'node:http';
import { decodeText } from '../../src/smpp/charset.ts';
import { messageOctets, type SubmitPdu } from '../../src/smpp/pdu.ts';
import { treatmentOf } from '../../src/smsc/faults.ts';
import { type Smsc, startSmsc } from '../../src/smsc/server.ts';
import { type Double, startDouble } from '../../test/providers/provider.ts';
import type { Phones } from './phones.ts';

/** The carriers of the run, in this process: a virtual SMSC and a provider with an HTTP API. */
export interface Carriers {
  smsc: Smsc;
  provider: Double;
  /** What an operator enters for them. */
  settings: { name: string; kind: string; settings: object }[];
  close(): Promise<void>;
}

const receiptAfterMs = 400;

export async function startCarriers(phones: Phones): Promise<Carriers> {
  const smsc = await startSmsc({
    onSubmit(submit) {
      const treatment = treatmentOf(smsc.state().counts.submits, smsc.behaviour);
      // What the SMSC does not take is no text on a phone.
      if (treatment !== 'throttle' && treatment !== 'refuse') arrive(phones, submit);
    },
  });
  const provider = await startProvider(phones);
  return {
    smsc,
    provider,
    settings: [
      {
        name: 'smsc',
        kind: 'smpp',
        // A submit without an answer is in doubt soon, so that a short run sees what becomes of it.
        settings: { host: '127.0.0.1', port: smsc.port, system_id: 'soak', binds: 2, window: 20, response_seconds: 5 },
      },
      {
        name: 'provider',
        kind: 'http',
        settings: { base: provider.url, allow_private: true, timeout_ms: 5000, describe: description },
      },
    ],
    async close() {
      await Promise.all([smsc.close(), provider.close()]);
    },
  };
}

const description = {
  url: '{{base}}/send',
  json: { to: '{{to|digits}}', text: '{{text}}', id: '{{id}}', notify: '{{receipts_url}}' },
  accepted: [{ status: [200] }],
  id: 'id',
  receipt: {
    id: 'id',
    verify: { kind: 'token' },
    state: { path: 'state', map: { DELIVERED: 'delivered' } },
  },
};

const hasHeader = 0x40;

/** The first part of a long text says which text it is; the parts behind it are read too, and say nothing. */
function arrive(phones: Phones, submit: SubmitPdu): void {
  const octets = messageOctets(submit);
  const headerLength = (submit.esmClass & hasHeader) === 0 ? 0 : 1 + (octets[0] ?? 0);
  const coding = submit.dataCoding === 8 ? 'ucs2' : 'gsm7';
  phones.arrive(submit.destination, decodeText(octets.subarray(headerLength), coding, headerLength));
}

interface ProviderText {
  to: string;
  text: string;
  id: string;
  notify: string;
}

/** Takes every text, and reports it delivered a moment later. */
function startProvider(phones: Phones): Promise<Double> {
  let ids = 0;
  const starting = startDouble(({ body }) => {
    const { to, text, notify } = JSON.parse(body) as ProviderText;
    const id = `p${++ids}`;
    phones.arrive(to, text);
    setTimeout(report, receiptAfterMs, notify, { id, state: 'DELIVERED' });
    return { status: 200, body: { id } };
  });
  // A double keeps what it got, for tests; a long run gets too much for that.
  void starting.then((double) => {
    setInterval(() => {
      double.requests.length = 0;
    }, 1000).unref();
  });
  return starting;
}

/** A provider sends a receipt again until it is taken. */
function report(url: string, receipt: object, tries = 1): void {
  const again = () => {
    if (tries < 20) setTimeout(report, 500, url, receipt, tries + 1).unref();
  };
  const sent = request(url, { method: 'POST', headers: { 'Content-Type': 'application/json' } }, (response) => {
    response.resume();
    if (response.statusCode !== 200) again();
  });
  sent.on('error', again);
  sent.end(JSON.stringify(receipt));
}
