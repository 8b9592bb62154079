import { BlockList, isIP } from 'node:net';
import { availableParallelism } from 'node:os';
import { checkHosts, followsPrimary } from '../platform/database/primary/hosts.ts';
import { isObject } from '../platform/is-object.ts';
import { isSentinelAddress, readSentinelAddress } from '../platform/redis-sentinel.ts';
import { trimEnd } from '../platform/trim-end.ts';

/** One environment variable: its help text, its default and its parser. */
export interface Setting<Value> {
  help: string;
  /** The default as environment text. Undefined when other settings decide the value, or it may be absent. */
  fallback: string | undefined;
  /** Allowed numbers, for the documents. */
  bounds?: string;
  /** The default in words, for docs/settings.md. */
  unset?: string;
  /** Further sentences for docs/settings.md. */
  more?: string;
  /** Throws an `Error` whose message completes "NAME must …". */
  read(text: string): Value;
}

/** Adds what only docs/settings.md says. */
export function explained<Value>(
  setting: Setting<Value>,
  words: Pick<Setting<Value>, 'more' | 'unset'>,
): Setting<Value> {
  return { ...setting, ...words };
}

export function text(help: string, fallback?: string, pattern = /\S/, must = 'not be empty'): Setting<string> {
  return {
    help,
    fallback,
    read: (value) => {
      if (!pattern.test(value)) throw new Error(must);
      return value;
    },
  };
}

export function integer(help: string, fallback: number | undefined, min: number, max: number): Setting<number> {
  return {
    help,
    fallback: fallback?.toString(),
    bounds: `${min} to ${max}`,
    read: (value) => {
      const number = /^\d{1,10}$/.test(value) ? Number(value) : Number.NaN;
      if (!(number >= min && number <= max)) throw new Error(`be a whole number from ${min} to ${max}`);
      return number;
    },
  };
}

/** A number of processes; `auto` means one for each core that this process may use. */
export function countOrAuto(help: string, max: number): Setting<number> {
  return {
    help,
    fallback: '1',
    read: (value) => {
      if (value === 'auto') return Math.min(availableParallelism(), max);
      const number = /^\d{1,3}$/.test(value) ? Number(value) : Number.NaN;
      if (!(number >= 1 && number <= max)) throw new Error(`be auto or a whole number from 1 to ${max}`);
      return number;
    },
  };
}

export function oneOf<const Choice extends string>(help: string, choices: readonly Choice[]): Setting<Choice> {
  return {
    help: `${help}: ${choices.join(', ')}`,
    fallback: choices[0],
    read: (value) => {
      const choice = choices.find((candidate) => candidate === value);
      if (choice === undefined) throw new Error(`be one of ${choices.join(', ')}`);
      return choice;
    },
  };
}

export function url(help: string, protocols: string[]): Setting<string> {
  const must = `be an address starting with ${protocols.map((protocol) => `${protocol}//`).join(' or ')}`;
  return {
    help,
    fallback: undefined,
    read: (value) => {
      if (!URL.canParse(value) || !protocols.includes(new URL(value).protocol)) throw new Error(must);
      return trimEnd(value, /\//);
    },
  };
}

/** The address of a database. It may name several hosts, which no URL can. */
export function databaseUrl(help: string): Setting<string> {
  const single = url(help, ['postgres:', 'postgresql:']);
  return {
    ...single,
    read(value) {
      const isPostgres = /^postgres(?:ql)?:\/\//.test(value);
      if (!isPostgres || !followsPrimary(value)) return single.read(value);
      checkHosts(value);
      return value;
    },
  };
}

/** The address of Redis, or of the Sentinels that name it. */
export function redisUrl(help: string): Setting<string> {
  const single = url(help, ['redis:', 'rediss:', 'valkey:', 'valkeys:']);
  return {
    ...single,
    read(value) {
      if (!isSentinelAddress(value)) return single.read(value);
      readSentinelAddress(value);
      return value;
    },
  };
}

/** A base URL to which paths are appended. */
export function baseUrl(help: string): Setting<string> {
  const any = url(help, ['http:', 'https:']);
  return {
    ...any,
    read: (value) => {
      const base = any.read(value);
      const { search, hash, username, password } = new URL(base);
      if (search + hash + username + password !== '') throw new Error('have no query, no fragment and no password');
      return base;
    },
  };
}

export function cidrs(help: string): Setting<string[]> {
  return {
    help,
    fallback: '',
    read: (value) => {
      const list = value
        .split(',')
        .map((entry) => entry.trim())
        .filter((entry) => entry !== '');
      for (const entry of list) {
        if (!isCidr(entry)) throw new Error('be addresses or CIDRs, separated by commas, like 10.0.0.0/8,::1');
      }
      return list;
    },
  };
}

function isCidr(entry: string): boolean {
  const [address = '', prefix, ...rest] = entry.split('/');
  const family = isIP(address);
  if (family === 0 || rest.length > 0) return false;
  if (prefix === undefined) return true;
  if (!/^\d{1,3}$/.test(prefix)) return false;
  try {
    new BlockList().addSubnet(address, Number(prefix), family === 4 ? 'ipv4' : 'ipv6');
    return true;
  } catch {
    return false;
  }
}

/** A JSON object. `check` returns the parsed value or throws its first problem. */
export function jsonObject<Value>(help: string, check: (value: Record<string, unknown>) => Value): Setting<Value> {
  return {
    help,
    fallback: '{}',
    read: (text) => {
      let value: unknown;
      try {
        value = JSON.parse(text);
      } catch {
        throw new Error('be a JSON object');
      }
      if (!isObject(value)) throw new Error('be a JSON object');
      return check(value);
    },
  };
}
