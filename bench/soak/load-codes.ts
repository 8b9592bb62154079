import type { Client, Reply } from './client.ts';
import type { Ledger } from './ledger.ts';
import type { Meter } from './meter.ts';
import type { Phones } from './phones.ts';
import type { TokenKeeper } from './tokens.ts';
import type { World } from './world.ts';

const path = '/verify/v1/verifications';
/** A code moves to the other carrier when its own fails; this is far beyond that. */
const codeWithinMs = 60_000;

interface Parts {
  client: Client;
  world: World;
  tokens: TokenKeeper;
  ledger: Ledger;
  meter: Meter;
  phones: Phones;
}

/** Starts a verification for a number of its own, waits for the code on the phone, and types it in, mostly right. */
export function createCodeAct({ client, world: { shop }, tokens, ledger, meter, phones }: Parts) {
  const { codes } = ledger;
  const headers = () => tokens.headers('verify:manage');

  async function check(id: string, number: number, code: string): Promise<Reply | undefined> {
    const reply = await client.ask('check', {
      method: 'POST',
      path: `${path}/${id}`,
      headers: headers(),
      json: { code },
    });
    // Without an answer it may have been approved all the same.
    if (reply === undefined) codes.doubt(number);
    else if (reply.status === 200 && reply.body.valid === true) codes.count(number);
    const isDecided = reply?.status === 200 || reply?.status === 409;
    if (reply !== undefined) ledger.check('a check is decided', isDecided, () => `it was answered ${reply.status}`);
    return isDecided ? reply : undefined;
  }

  async function enter(id: string, number: number, code: string): Promise<void> {
    const reply = await check(id, number, code);
    if (reply === undefined) return;
    ledger.check('a right code approves', reply.body.status === 'approved', () => `${number}: ${reply.body.status}`);
  }

  async function enterTwice(id: string, number: number, code: string): Promise<void> {
    const replies = await Promise.all([check(id, number, code), check(id, number, code)]);
    if (replies.includes(undefined)) return;
    const statuses = replies.map((reply) => reply?.status).sort((one = 0, other = 0) => one - other);
    const holds = statuses[0] === 200 && statuses[1] === 409;
    ledger.check('of two right codes at once one approves', holds, () => `${number}: ${statuses}`);
  }

  async function enterWrongFirst(id: string, number: number, code: string): Promise<void> {
    const wrong = code === '000000' ? '111111' : '000000';
    for (const left of [4, 3]) {
      const reply = await check(id, number, wrong);
      if (reply === undefined) return;
      const what = () => `${number}: ${reply.body.attempts_remaining} are left, not ${left}`;
      ledger.check('a wrong code costs one try', reply.body.attempts_remaining === left, what);
    }
    await enter(id, number, code);
  }

  async function cancelFirst(id: string, number: number, code: string): Promise<void> {
    const canceled = await client.ask('cancel', { method: 'DELETE', path: `${path}/${id}`, headers: headers() });
    if (canceled?.status !== 200) return;
    const reply = await check(id, number, code);
    if (reply === undefined) return;
    const what = () => `${number}: ${reply.body.status}`;
    ledger.check('a canceled verification stays so', reply.body.status === 'canceled' && !reply.body.valid, what);
  }

  /** Asks the service what became of the text: a carrier may refuse one for good, and some do in this run. */
  async function lookAtMissing(id: string, number: number): Promise<void> {
    const path = `/portal/v1/applications/${shop.id}/verifications/${id}`;
    const reply = await client.ask('list', { path, headers: { cookie: shop.developer.cookie } });
    if (reply === undefined) return;
    const { delivery, submits } = reply.body;
    ledger.count(`codes that were not on the phone in time: ${delivery?.status}`);
    const isRefused = delivery?.status === 'failed';
    const what = () => `verification ${number}: ${JSON.stringify({ delivery, submits })}`;
    ledger.check('a code reaches the phone, unless a carrier refused it', isRefused, what);
  }

  const ways = [enter, enter, enter, enterTwice, enter, enter, enterWrongFirst, enter, enter, cancelFirst];

  return async (dueMs: number): Promise<void> => {
    const number = codes.newNumber();
    const to = `+4479${String(number % 1e8).padStart(8, '0')}`;
    // Before the start: the code may be on the phone before the answer is here.
    const arriving = phones.expect(to);
    const json = { to, channel: 'sms', reference: `v${number}` };
    const reply = await client.ask('start', { method: 'POST', path, headers: headers(), json, dueMs });
    const isStarted = reply?.status === 200 && reply.body.status === 'pending';
    codes.note(number, reply === undefined ? 'unknown' : isStarted ? 'accepted' : 'refused');
    if (!isStarted) arriving.cancel();
    if (reply === undefined) return;
    ledger.check('a good start is accepted', isStarted, () => `${number}: ${reply.status} ${reply.body.status}`);
    if (!isStarted) return;
    const code = await arriving.within(codeWithinMs);
    if (code === undefined) {
      await lookAtMissing(reply.body.id, number);
      return;
    }
    ledger.check('a code reaches the phone, unless a carrier refused it', true);
    meter.time('code on the phone', performance.now() - dueMs);
    await ways[number % ways.length]?.(reply.body.id, number, code);
  };
}
