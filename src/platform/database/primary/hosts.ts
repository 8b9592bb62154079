/** One host of `DATABASE_URL`, with an address for it alone. */
export interface HostAddress {
  /** As people read it: `db1:5432`. */
  name: string;
  url: string;
}

/** What Postgres's own library takes for "the one that takes writes". */
const writable = ['read-write', 'primary'];
const mostHosts = 9;

/**
 * Reads the hosts of a `DATABASE_URL`: `postgres://user@a:5432,b:5432/db`, or `?host=a,b&port=5432,5433` as Postgres's
 * library writes it. Throws an `Error` that completes "DATABASE_URL must …".
 */
export function readHosts(url: string): HostAddress[] {
  const { isAddress, scheme, user, authority, path, search } = partsOf(url);
  if (!isAddress) throw new Error('be an address like postgres://user:password@db1:5432,db2:5432/database');
  const query = new URLSearchParams(search);
  const hosts = listOf(query.get('host'));
  const ports = listOf(query.get('port'));
  query.delete('target_session_attrs');
  const before = user === undefined ? scheme : `${scheme}${user}@`;
  const addresses =
    hosts.length > 0
      ? hosts.map((host, at) => {
          const port = ports.length > 1 ? ports[at] : ports[0];
          const own = new URLSearchParams(query);
          own.set('host', host);
          if (port !== undefined) own.set('port', port);
          const base = user === undefined ? scheme : `${before}localhost`;
          return { name: `${host}:${port ?? 5432}`, url: `${base}${path}?${own}` };
        })
      : authority.split(',').map((address) => {
          const rest = query.size > 0 ? `?${query}` : '';
          return { name: hasPort(address) ? address : `${address}:5432`, url: `${before}${address}${path}${rest}` };
        });
  if (ports.length > 1 && ports.length !== hosts.length) throw new Error('name one port, or one for each host');
  if (addresses.length > mostHosts) throw new Error(`name at most ${mostHosts} hosts`);
  for (const { name, url } of addresses) {
    if (!isHost(name) || !URL.canParse(url)) throw new Error('name hosts like db1:5432, separated by commas');
  }
  if (new Set(addresses.map(({ name }) => name)).size < addresses.length) throw new Error('name each host once');
  return addresses;
}

/**
 * Whether the host that takes writes must be found and followed: with several hosts, or where `DATABASE_URL` asks for it
 * because one address leads to different servers, as that of a proxy does.
 */
export function followsPrimary(url: string): boolean {
  if (wantedOf(url) !== undefined) return true;
  const { authority, search } = partsOf(url);
  return authority.includes(',') || (new URLSearchParams(search).get('host') ?? '').includes(',');
}

/** Checks an address that names several hosts, or asks for the one that takes writes. */
export function checkHosts(url: string): void {
  readHosts(url);
  const wanted = wantedOf(url);
  if (wanted !== undefined && !writable.includes(wanted))
    throw new Error('have target_session_attrs=read-write or none');
}

function wantedOf(url: string): string | undefined {
  return /[?&]target_session_attrs=([^&#]*)/.exec(url)?.[1];
}

function partsOf(url: string) {
  const parts = /^(postgres(?:ql)?:\/\/)(?:([^/?#]*)@)?([^/?#@]*)((?:\/[^?#]*)?)(\?[^#]*)?$/.exec(url);
  const [, scheme = '', user, authority = '', path = '', search = ''] = parts ?? [];
  return { isAddress: parts !== null, scheme, user, authority, path, search };
}

function listOf(text: string | null): string[] {
  return text === null || text === '' ? [] : text.split(',');
}

function hasPort(address: string): boolean {
  return /:\d+$/.test(address) && !/^[^[]*:[^:]*:/.test(address);
}

/** A name, an address, `[an IPv6 address]`, or the folder of a socket. */
function isHost(name: string): boolean {
  return /^(?:[A-Za-z0-9._%-]+|\[[0-9A-Fa-f:.]+\]|\/.+):\d{1,5}$/.test(name);
}
