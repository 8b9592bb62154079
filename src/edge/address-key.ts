import { type OwnedText, ownedText } from '../platform/owned-text.ts';

/** All invalid addresses share one budget. With one key each, a caller could escape its limit by sending nonsense. */
const noAddress = ownedText('unknown');

/** The longest IPv6 address has 45 characters, and a zone adds a few. Longer text is not an address. */
const longest = 64;

/**
 * Returns the key that an address is counted under. IPv4 is its own key, also when mapped into IPv6, as on a dual-stack
 * socket. IPv6 counts by /64, the smallest block that a provider gives one customer.
 */
export function addressKey(address: string): OwnedText {
  if (address.length > longest) return noAddress;
  if (isIpv4(address, 0, address.length)) return ownedText(address);
  if (address.startsWith('::ffff:') && isIpv4(address, 7, address.length)) return ownedText(address.slice(7));
  const groups = readIpv6(address);
  if (groups === undefined) return noAddress;
  const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = groups;
  if (a === 0 && b === 0 && c === 0 && d === 0 && e === 0 && f === 0xffff) {
    return ownedText(`${g >> 8}.${g & 255}.${h >> 8}.${h & 255}`);
  }
  return ownedText(`${a.toString(16)}:${b.toString(16)}:${c.toString(16)}:${d.toString(16)}::/64`);
}

const dot = 0x2e;
const colon = 0x3a;

/** Rejects leading zeros: some parsers read them as octal, and one address would then have two keys. */
function isIpv4(text: string, from: number, to: number): boolean {
  let dots = 0;
  let digits = 0;
  let value = 0;
  for (let i = from; i < to; i++) {
    const code = text.charCodeAt(i);
    if (code === dot) {
      if (digits === 0 || ++dots > 3) return false;
      digits = 0;
      value = 0;
    } else {
      if (code < 0x30 || code > 0x39 || (digits > 0 && value === 0)) return false;
      value = value * 10 + code - 0x30;
      digits++;
      if (value > 255) return false;
    }
  }
  return dots === 3 && digits > 0;
}

/** Reads the eight groups of an IPv6 address (RFC 4291, section 2.2), without its zone. */
function readIpv6(text: string): number[] | undefined {
  const zone = text.indexOf('%');
  const end = zone < 0 ? text.length : zone;
  const groups: number[] = [];
  let gap = text.startsWith('::') ? 0 : -1;
  let i = gap === 0 ? 2 : 0;
  while (i < end) {
    const start = i;
    let value = 0;
    for (; i < end; i++) {
      const digit = hexDigit(text.charCodeAt(i));
      if (digit < 0) break;
      value = value * 16 + digit;
    }
    if (i < end && text.charCodeAt(i) === dot) {
      if (!isIpv4(text, start, end)) return undefined;
      const [a = 0, b = 0, c = 0, d = 0] = text.slice(start, end).split('.').map(Number);
      groups.push((a << 8) | b, (c << 8) | d);
      break;
    }
    if (i === start || i > start + 4) return undefined;
    groups.push(value);
    if (i === end) break;
    if (text.charCodeAt(i++) !== colon || i === end) return undefined;
    if (text.charCodeAt(i) === colon) {
      if (gap >= 0) return undefined;
      gap = groups.length;
      i++;
    }
  }
  return withGap(groups, gap);
}

/** Inserts the zero groups, at least one, that `::` stands for. */
function withGap(groups: number[], gap: number): number[] | undefined {
  if (gap < 0) return groups.length === 8 ? groups : undefined;
  if (groups.length > 7) return undefined;
  const whole = [0, 0, 0, 0, 0, 0, 0, 0];
  const tail = 8 - groups.length;
  for (let i = 0; i < groups.length; i++) whole[i < gap ? i : i + tail] = groups[i] ?? 0;
  return whole;
}

function hexDigit(code: number): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  const letter = code | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1;
}
