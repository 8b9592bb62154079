import { type LookupAddress, type LookupAllOptions, lookup as lookupName } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';

/** Decides which addresses the service may connect to for an operator or a developer: no internal ones, unless allowed. */
export interface AddressGuard {
  isAllowed(address: string): boolean;
  /** Why a URL cannot be used, without resolving its name; completes a sentence. Undefined if it can. */
  urlProblem(url: string): string | undefined;
  /** Like `urlProblem`, but also resolves the name. */
  problem(url: string): Promise<string | undefined>;
  /** For sockets: resolves a name and refuses it at each connect, so the address that was checked is the one used. */
  readonly lookup: LookupFunction;
}

export interface AddressGuardOptions {
  /** Sandbox: this machine only, whatever `allowPrivate` says. */
  environment: 'sandbox' | 'production';
  /** Also allows private addresses, and URLs without TLS. */
  allowPrivate: boolean;
}

/** Resolves a name to all its addresses. Node's own, unless a test has another. */
export type Resolver = (
  host: string,
  options: LookupAllOptions,
  done: (error: NodeJS.ErrnoException | null, found: LookupAddress[]) => void,
) => void;

const resolveWithinMs = 5000;
const longestUrl = 2048;

/** For carriers: operators name the addresses. */
export function createAddressGuard({ environment, allowPrivate }: AddressGuardOptions): AddressGuard {
  const isSandbox = environment === 'sandbox';
  return createGuard({
    mayBePlain: isSandbox || allowPrivate,
    isAllowed(address) {
      if (isSandbox) return isLoopback(address);
      return allowPrivate ? isIP(address) !== 0 : isPublicAddress(address);
    },
    foreign: (address) =>
      isSandbox
        ? `must be on this machine, like http://127.0.0.1: nothing leaves the sandbox (${address}; HELIOGRAPH_ENV is sandbox)`
        : `must lead to a public address, or allow_private must be true (${address})`,
  });
}

/** For webhooks: developers name the addresses, so none of ours may be among them. */
export function createWebhookGuard(
  environment: 'sandbox' | 'production',
  resolver: Resolver = lookupName,
): AddressGuard {
  const isSandbox = environment === 'sandbox';
  return createGuard({
    mayBePlain: isSandbox,
    isAllowed: (address) => isPublicAddress(address) || (isSandbox && isLoopback(address)),
    // The message must not show a developer the address of an internal name.
    foreign: () => `must lead to a public address${isSandbox ? ', or to this machine' : ''}`,
    resolver,
  });
}

/** For alerts: the operator names the address. In production a call without TLS may only go to a private address. */
export function createAlertGuard(
  url: string,
  environment: 'sandbox' | 'production',
  resolver: Resolver = lookupName,
): AddressGuard {
  const mayLeave = environment === 'sandbox' || new URL(url).protocol === 'https:';
  return createGuard({
    mayBePlain: true,
    isAllowed: (address) => isIP(address) !== 0 && (mayLeave || !isPublicAddress(address)),
    foreign: () => 'must begin with https://, or lead to a loopback or private address',
    resolver,
  });
}

interface GuardRules {
  mayBePlain: boolean;
  isAllowed: (address: string) => boolean;
  /** What is wrong with an address that is not allowed. */
  foreign: (address: string) => string;
  resolver?: Resolver;
}

function createGuard({ mayBePlain, isAllowed, foreign, resolver = lookupName }: GuardRules): AddressGuard {
  function urlProblem(text: string): string | undefined {
    const url = readUrl(text);
    if (url === undefined) return 'must be a URL like https://api.example.com';
    if (url.protocol !== 'https:' && !(mayBePlain && url.protocol === 'http:'))
      return mayBePlain ? 'must begin with https:// or http://' : 'must begin with https://';
    if (url.username !== '' || url.password !== '') return 'must not have a user or a password in it';
    const host = hostOf(url);
    if (isIP(host) !== 0) return isAllowed(host) ? undefined : foreign(host);
    return isLoopbackName(host) && !isAllowed('127.0.0.1') ? foreign('127.0.0.1') : undefined;
  }

  async function problem(text: string): Promise<string | undefined> {
    const wrong = urlProblem(text);
    const url = readUrl(text);
    if (wrong !== undefined || url === undefined) return wrong;
    const addresses = await resolve(hostOf(url), resolver);
    if (addresses.length === 0) return 'must have an address: this name could not be resolved';
    const bad = addresses.find((address) => !isAllowed(address));
    return bad === undefined ? undefined : foreign(bad);
  }

  return {
    isAllowed,
    urlProblem,
    problem,
    lookup(host, options, done) {
      resolver(host, { ...options, all: true }, (error, found) => {
        if (error !== null) return done(error, '', 0);
        const bad = found.find(({ address }) => !isAllowed(address));
        const [first] = found;
        if (bad !== undefined || first === undefined) return done(refusal(host, bad?.address), '', 0);
        // Node asks either for all addresses or for one.
        if (options.all === true) return (done as (error: null, all: typeof found) => void)(null, found);
        done(null, first.address, first.family);
      });
    },
  };
}

/** These names lead to this machine, whatever a resolver says (RFC 6761). */
function isLoopbackName(host: string): boolean {
  return /(^|\.)localhost\.?$/i.test(host);
}

/** The code of the error that a refused connect has. */
export const addressRefused = 'EADDRESSREFUSED';

export function refusal(host: string, address: string | undefined): NodeJS.ErrnoException {
  const error: NodeJS.ErrnoException = new Error(`${host} leads to ${address ?? 'no address'}, which is not allowed`);
  error.code = addressRefused;
  return error;
}

/** The URL standard writes every spelling of an IPv4 address (decimal, octal, hexadecimal, short) in the same way. */
function readUrl(text: string): URL | undefined {
  if (text.length > longestUrl) return undefined;
  try {
    return new URL(text);
  } catch {
    return undefined;
  }
}

/** The host without the brackets of IPv6. */
export function hostOf({ hostname }: URL): string {
  return hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
}

async function resolve(host: string, resolver: Resolver): Promise<string[]> {
  if (isIP(host) !== 0) return [host];
  return new Promise((done) => {
    const late = setTimeout(() => done([]), resolveWithinMs);
    resolver(host, { all: true }, (error, found) => {
      clearTimeout(late);
      done(error === null ? found.map(({ address }) => address) : []);
    });
  });
}

const inside = new BlockList();
for (const [net, bits] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  // Azure's metadata, though it looks public.
  ['168.63.129.16', 32],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 3],
] as const)
  inside.addSubnet(net, bits, 'ipv4');

/** The IPv6 range that is routed on the internet; `special` lists its exceptions. */
const routed = new BlockList();
routed.addSubnet('2000::', 3, 'ipv6');
const special = new BlockList();
// Protocols (Teredo among them), examples, 6to4, examples again.
for (const [net, bits] of [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
] as const)
  special.addSubnet(net, bits, 'ipv6');

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');

export function isLoopback(address: string): boolean {
  const plain = embeddedIPv4(address) ?? address;
  return isIP(plain) === 4
    ? loopback.check(plain, 'ipv4')
    : isIP(plain) === 6 && groupsOf(plain)?.join() === ipv6Loopback;
}

const ipv6Loopback = '0,0,0,0,0,0,0,1';

/** An address on the internet: not this machine, its networks, or a range that has another purpose. */
export function isPublicAddress(address: string): boolean {
  if (isIP(address) === 4) return !inside.check(address, 'ipv4');
  const embedded = embeddedIPv4(address);
  if (embedded !== undefined) return !inside.check(embedded, 'ipv4');
  // A zone id names a link of this machine.
  if (isIP(address) !== 6 || address.includes('%')) return false;
  return routed.check(address, 'ipv6') && !special.check(address, 'ipv6');
}

/** The IPv4 address in a mapped (::ffff:0:0/96) or NAT64 (64:ff9b::/96) one: that is where such an address leads. */
function embeddedIPv4(address: string): string | undefined {
  const groups = isIP(address) === 6 && !address.includes('%') ? groupsOf(address) : undefined;
  if (groups === undefined) return undefined;
  const head = groups.slice(0, 6).join();
  if (head !== '0,0,0,0,0,65535' && head !== '100,65435,0,0,0,0') return undefined;
  const [high = 0, low = 0] = groups.slice(6);
  return [high >> 8, high & 255, low >> 8, low & 255].join('.');
}

/** The eight groups of an IPv6 address, as the URL standard reads it. */
function groupsOf(address: string): number[] | undefined {
  const url = readUrl(`http://[${address.split('%', 1)[0]}]/`);
  if (url === undefined) return undefined;
  const [head = '', tail] = hostOf(url).split('::');
  const read = (part: string | undefined) =>
    part === undefined || part === '' ? [] : part.split(':').map((group) => Number.parseInt(group, 16));
  const [before, after] = [read(head), read(tail)];
  return [...before, ...Array.from({ length: 8 - before.length - after.length }, () => 0), ...after];
}
