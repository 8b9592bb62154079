import type { Redis } from './redis.ts';

/** What a `redis+sentinel://…` address says. */
export interface SentinelAddress {
  /** One address for each Sentinel. */
  sentinels: string[];
  /** The name that Sentinels know the master by. */
  master: string;
  /** The address of a master at this host. */
  masterUrl(host: string, port: string): string;
}

const form = /^(rediss?)\+sentinel:\/\/(?:([^/?#]*)@)?([^/?#@]+)\/([^/?#]+)(?:\/(\d{1,4}))?(\?[^#]*)?$/;
const host = /^(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?$/;
const mostSentinels = 9;
const defaultPort = 26379;

export function isSentinelAddress(url: string): boolean {
  return /^rediss?\+sentinel:/.test(url);
}

/**
 * Reads `redis+sentinel://user:password@s1:26379,s2:26379/mymaster/0?sentinel_password=…`. User, password and database
 * are those of the master. Throws an `Error` that completes "REDIS_URL must …".
 */
export function readSentinelAddress(url: string): SentinelAddress {
  const parts = form.exec(url);
  if (parts === null) throw new Error('be an address like redis+sentinel://s1:26379,s2:26379,s3:26379/mymaster');
  const [, scheme = '', user, list = '', name = '', database, search = ''] = parts;
  const hosts = list.split(',');
  if (!hosts.every((each) => host.test(each))) throw new Error('name Sentinels like s1:26379, separated by commas');
  if (hosts.length > mostSentinels) throw new Error(`name at most ${mostSentinels} Sentinels`);
  const query = new URLSearchParams(search);
  const secret = query.get('sentinel_password');
  const sentinelUser = encodeURIComponent(query.get('sentinel_user') ?? '');
  const credentials = secret === null ? '' : `${sentinelUser}:${encodeURIComponent(secret)}@`;
  const withPort = (each: string) => (/:\d+$/.test(each) ? each : `${each}:${defaultPort}`);
  const before = user === undefined ? '' : `${user}@`;
  const after = database === undefined ? '' : `/${database}`;
  return {
    sentinels: hosts.map((each) => `${scheme}://${credentials}${withPort(each)}`),
    master: decodeURIComponent(name),
    masterUrl: (at, port) => `${scheme}://${before}${at.includes(':') ? `[${at}]` : at}:${port}${after}`,
  };
}

/** Finds the current master each time it is asked. */
export interface MasterFinder {
  /** The address of the master that the newest decision named. Rejects if no Sentinel answers. */
  find(): Promise<string>;
  close(): void;
}

export interface MasterFinderOptions {
  address: SentinelAddress;
  connect: (url: string, onLost: () => void) => Promise<Pick<Redis, 'ask' | 'close'>>;
}

interface Decision {
  url: string;
  /** Rises with each failover. */
  epoch: number;
}

export function createMasterFinder({ address, connect }: MasterFinderOptions): MasterFinder {
  const connections = new Map<string, Promise<Pick<Redis, 'ask' | 'close'>>>();

  function connectionTo(url: string): Promise<Pick<Redis, 'ask' | 'close'>> {
    const known = connections.get(url);
    if (known !== undefined) return known;
    const forget = () => {
      if (connections.get(url) === opened) connections.delete(url);
    };
    const opened = connect(url, forget);
    connections.set(url, opened);
    opened.catch(forget);
    return opened;
  }

  async function ask(url: string): Promise<Decision> {
    const sentinel = await connectionTo(url);
    const answer = await sentinel.ask(['SENTINEL', 'MASTER', address.master]);
    const fields = fieldsOf(answer);
    const [ip, port] = [fields.get('ip'), fields.get('port')];
    if (ip === undefined || port === undefined) throw new Error('Sentinel does not know this master');
    return { url: address.masterUrl(ip, port), epoch: Number(fields.get('config-epoch') ?? 0) };
  }

  return {
    async find() {
      // Ask all of them: a Sentinel that was cut off from the others still names the previous master.
      const answers = await Promise.allSettled(address.sentinels.map(ask));
      const decisions = answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []));
      const newest = decisions.toSorted((one, other) => other.epoch - one.epoch)[0];
      if (newest !== undefined) return newest.url;
      const reasons = answers.map((answer) => (answer.status === 'rejected' ? String(answer.reason) : ''));
      throw new Error(`no Sentinel names the master: ${reasons.join(', ')}`);
    },
    close() {
      for (const opened of connections.values()) opened.then((sentinel) => sentinel.close()).catch(() => {});
      connections.clear();
    },
  };
}

/** Reads the flat list of alternating names and values by which RESP2 answers. */
function fieldsOf(answer: unknown): Map<string, string> {
  const list = Array.isArray(answer) ? answer.map(String) : [];
  const fields = new Map<string, string>();
  for (let at = 0; at + 1 < list.length; at += 2) fields.set(list[at] ?? '', list[at + 1] ?? '');
  return fields;
}
