// Tests: test/contract/guard-conversion.test.ts
import { isIPv6 } from 'node:net';
import { keyedHash } from '../platform/crypto/secrets.ts';

/** What an application reports about the person who asked for a code. */
export interface StartClient {
  ip?: string | null | undefined;
  user_agent?: string | null | undefined;
  device_id?: string | null | undefined;
}

/** A device; a program at an address; all programs at an address. */
export type ClientKind = 'device' | 'program' | 'address';

/** Half a hash is enough to distinguish the clients of a day. */
const hashBytes = 16;

/**
 * The groups that a start belongs to by its client, as keyed hashes, the smallest first. They differ between
 * applications, so that no row shows who uses two of them.
 */
export function clientScopes(key: Buffer, applicationId: string, client: StartClient): string[] {
  const { ip, user_agent, device_id } = client;
  const name = (kind: ClientKind, value: string) =>
    `${kind}:${keyedHash(key, `${applicationId} ${kind} ${value}`).subarray(0, hashBytes).toString('hex')}`;
  const scopes: string[] = [];
  if (device_id) scopes.push(name('device', device_id));
  if (ip) {
    const address = addressOf(ip);
    if (user_agent) scopes.push(name('program', `${address} ${user_agent}`));
    scopes.push(name('address', address));
  }
  return scopes;
}

/**
 * Also works for a scope whose hash was deleted, because the kind stays. Prefixes and countries begin with other characters.
 */
export function clientKindOf(scope: string): ClientKind | undefined {
  if (scope < 'a') return undefined;
  const [kind] = scope.split(':', 1);
  return kind === 'device' || kind === 'program' || kind === 'address' ? kind : undefined;
}

/** A person with IPv6 has 2^64 addresses: their network counts. */
function addressOf(ip: string): string {
  const given = ip.trim().toLowerCase();
  if (!isIPv6(given)) return given;
  const [, mapped] = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/.exec(given) ?? [];
  if (mapped !== undefined) return mapped;
  const [before = '', after] = (given.split('%')[0] ?? '').split('::');
  const head = groupsOf(before);
  const tail = after === undefined ? [] : groupsOf(after);
  const zeros =
    after === undefined ? [] : Array.from({ length: Math.max(0, 8 - head.length - tail.length) }, () => '0');
  return [...head, ...zeros, ...tail].slice(0, 4).join(':');
}

/** The last group may be written like an IPv4 address, which fills two. */
function groupsOf(part: string): string[] {
  const groups = part === '' ? [] : part.split(':');
  return groups.flatMap((group) => (group.includes('.') ? ['0', '0'] : [group.replace(/^0+/, '') || '0']));
}
