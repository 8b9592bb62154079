import { decodeText } from '../../src/smpp/charset.ts';
import { startDouble } from '../providers/provider.ts';
import { receiptOf } from './carrier-world.ts';
import { type Script, startScriptedSmsc } from './scripted-smsc.ts';

/** A text that a carrier has got. */
export interface Arrival {
  carrier: string;
  text: string;
}

export type Note = (number: string, arrival: Arrival) => void;

/** A carrier that dies and comes back. */
export interface MortalCarrier {
  /** Where it is, for the settings of the carrier. */
  settings: Record<string, unknown>;
  /** Takes texts from now on and answers nothing: what it has got is in doubt when the connection ends. */
  mute(): void;
  /** How many texts it has taken without an answer. */
  unanswered(): number;
  die(): Promise<void>;
  revive(): Promise<void>;
  close(): Promise<void>;
}

/** An SMSC that notes every submit, and answers it with a receipt. Dead, it resets connections. */
export async function startMortalSmsc(carrier: string, note: Note): Promise<MortalCarrier> {
  let unanswered = 0;
  const working: Script = (pdu, peer) => {
    if (pdu.command !== 'submit_sm') return false;
    const { sequence, destination, shortMessage } = pdu;
    note(destination, { carrier, text: decodeText(shortMessage, 'gsm7') });
    const id = `${peer.number}-${sequence}`;
    peer.send({ command: 'submit_sm_resp', status: 0, sequence, messageId: id, tlvs: [] });
    peer.send(receiptOf(id, { sequence, source: destination }));
    return true;
  };
  const mute: Script = (pdu) => {
    if (pdu.command !== 'submit_sm') return false;
    note(pdu.destination, { carrier, text: decodeText(pdu.shortMessage, 'gsm7') });
    unanswered++;
    return true;
  };
  const refusing: Script = (_, peer) => {
    peer.reset();
    return true;
  };
  const smsc = await startScriptedSmsc(working);
  return {
    settings: { host: '127.0.0.1', port: smsc.port, system_id: carrier, binds: 2 },
    mute: () => smsc.follow(mute),
    unanswered: () => unanswered,
    async die() {
      smsc.follow(refusing);
      for (const peer of smsc.peers) peer.reset();
    },
    revive: async () => smsc.follow(working),
    close: () => smsc.close(),
  };
}

/** An HTTP provider without receipts. Dead, it refuses connections. */
export async function startMortalProvider(carrier: string, note: Note): Promise<MortalCarrier> {
  let [isMute, unanswered] = [false, 0];
  const listen = (port?: number) =>
    startDouble(({ body }) => {
      const { to, text, id } = JSON.parse(body);
      note(to, { carrier, text });
      if (isMute) unanswered++;
      return isMute ? 'silent' : { status: 200, body: { id: `${carrier}-${id}` } };
    }, port);
  let provider = await listen();
  const { url } = provider;
  const describe = {
    url: '{{base}}/send',
    json: { to: '{{to|digits}}', text: '{{text}}', id: '{{id}}' },
    accepted: [{ status: [200] }],
    id: 'id',
  };
  return {
    settings: { base: url, describe },
    mute() {
      isMute = true;
    },
    unanswered: () => unanswered,
    die: () => provider.close(),
    async revive() {
      isMute = false;
      provider = await listen(Number(new URL(url).port));
    },
    close: () => provider.close(),
  };
}
