import assert from 'node:assert/strict';
import type { RawClient } from '../smpp/raw-client.ts';
import { send } from '../support/developer.ts';
import type { SmppCaller } from './world.ts';

/** Long enough for two extensions: one takes 250 ms. */
const refusedForMs = 600;

/**
 * Submits by these binds, of a registration whose minute is used up, until an HTTP caller that came back as often would
 * wait two seconds longer. Then one that comes for the first time waits its minute, and the second that it adds itself.
 */
export async function staysAsLong(node: { url: string }, caller: SmppCaller, clients: RawClient[]): Promise<void> {
  const sinceMs = performance.now();
  while (performance.now() - sinceMs < refusedForMs)
    for (const client of clients) assert.equal((await client.submit()).status, 0x58);
  const { status, headers } = await send(node, 'GET', '/sms/v1/messages', { headers: { apikey: caller.apiKey } });
  assert.equal(status, 429);
  assert.ok(Number(headers.get('retry-after')) <= 61, `Retry-After is ${headers.get('retry-after')}`);
}
