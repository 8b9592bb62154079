// Tests: test/smpp/inbound.test.ts, test/contract/inbound.test.ts
import type { InboundText } from '../delivery/carrier/carrier.ts';
import { dayMs, minuteMs } from '../platform/clock.ts';
import type { KeyRing } from '../platform/crypto/keys.ts';
import { keyedHash } from '../platform/crypto/secrets.ts';
import type { Tx } from '../platform/database/database.ts';
import { noteSeen } from './inbound-store.ts';

/** Carriers repeat texts that we did not acknowledge in time: for days if they have an id, otherwise within minutes. */
const byIdMs = 3 * dayMs;
const byTextMs = 10 * minuteMs;

/** Separates new texts from repeats, and remembers the new ones. */
export async function separateRepeats<Text extends InboundText>(
  tx: Tx,
  keys: KeyRing,
  { account, texts, nowMs }: { account: string; texts: Text[]; nowMs: number },
): Promise<{ fresh: Text[]; repeats: Text[] }> {
  // The oldest version never changes, so after a rotation of the ring repeats are still recognised.
  const key = keys.keyFor('inbound', keys.versions.at(-1) ?? keys.version);
  const byHash = new Map<string, { hash: Buffer; text: Text; expiresAtMs: number }>();
  const repeats: Text[] = [];
  for (const text of texts) {
    const hash = keyedHash(key, markOf(account, text));
    const name = hash.toString('base64');
    const expiresAtMs = nowMs + (text.carrierMessageId === null ? byTextMs : byIdMs);
    if (byHash.has(name)) repeats.push(text);
    else byHash.set(name, { hash, text, expiresAtMs });
  }
  const isNew = await noteSeen(tx, [...byHash.values()], nowMs);
  const fresh: Text[] = [];
  for (const [name, { text }] of byHash) (isNew.has(name) ? fresh : repeats).push(text);
  return { fresh, repeats };
}

function markOf(account: string, { carrierMessageId, from, to, text, part }: InboundText): string {
  // A carrier may give all parts of a text one id.
  if (carrierMessageId !== null) return JSON.stringify(['id', account, carrierMessageId, part?.part ?? 0]);
  return JSON.stringify(['text', account, from, to, part, text]);
}
