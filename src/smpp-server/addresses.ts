// Tests: src/smpp-server/addresses.test.ts
import { BlockList, isIP } from 'node:net';

const widest = { 4: 24, 6: 48 } as const;

/** Why an entry can't be one of an account's addresses (completes a sentence that begins with its field), or undefined. */
export function addressProblem(entry: string): string | undefined {
  const [address = '', prefix, ...more] = entry.split('/');
  const family = isIP(address);
  const right = 'must be an address or a CIDR, like 203.0.113.7 or 203.0.113.0/28';
  if ((family !== 4 && family !== 6) || more.length > 0 || address.includes('%')) return right;
  if (prefix === undefined) return undefined;
  const bits = /^\d{1,3}$/.test(prefix) ? Number(prefix) : Number.NaN;
  if (!(bits <= (family === 4 ? 32 : 128))) return right;
  if (bits < widest[family]) return `must not be wider than /${widest[family]}`;
  return family === 6 && holdsMapped(address, bits)
    ? 'must have IPv4 addresses in IPv4 form, like 203.0.113.0/28'
    : undefined;
}

/** IPv4 addresses match IPv6 entries too, as `::ffff:203.0.113.7`: an entry like `::/48` would match all of them. */
function holdsMapped(address: string, bits: number): boolean {
  const list = new BlockList();
  list.addSubnet(address, Math.min(bits, 96), 'ipv6');
  return list.check('::ffff:0.0.0.0', 'ipv6');
}

/** Undefined without entries: then every address may bind. */
export function toBlockList(entries: readonly string[]): BlockList | undefined {
  if (entries.length === 0) return undefined;
  const list = new BlockList();
  for (const entry of entries) {
    const [address = '', prefix] = entry.split('/');
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
    if (prefix === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(prefix), family);
  }
  return list;
}

export function isAllowed(list: BlockList, address: string): boolean {
  const plain = address.startsWith('::ffff:') ? address.slice(7) : address;
  const family = isIP(plain);
  return family !== 0 && list.check(plain, family === 6 ? 'ipv6' : 'ipv4');
}
