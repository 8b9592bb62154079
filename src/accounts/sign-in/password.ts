// Tests: test/contract/password-pepper.test.ts, test/contract/ring-rotation.test.ts
import * as crypto from 'node:crypto';
import { promisify } from 'node:util';
import type { KeyRing } from '../../platform/crypto/keys.ts';
import { randomBytes } from '../../platform/crypto/random.ts';
import { keyedHash } from '../../platform/crypto/secrets.ts';

/**
 * Slow password hashing, off the event loop. scrypt takes a third of a second and 32 MiB, Argon2id 19 MiB. The hashed
 * value is keyed by the ring: without the ring, stolen hashes cannot be attacked by guessing.
 */
export interface Hasher {
  hash(password: string): Promise<string>;
  /** A missing hash takes as long as a wrong password, so that timing does not reveal which accounts exist. */
  verify(password: string, stored: string | null): Promise<boolean>;
  /** True when the hash is weaker than new ones, or has an older key or none. The next sign-in renews it. */
  isOutdated(stored: string): boolean;
}

export interface PasswordCost {
  /** N is two to the power of `logN`; `p` is scrypt's parallelization parameter. */
  scrypt: { logN: number; p: number };
  argon2: { memoryKiB: number; passes: number };
}

/**
 * OWASP's parameters: Argon2id with 19 MiB and 2 passes; scrypt with N = 2^15, r = 8, p = 3, which takes a quarter of
 * the memory of N = 2^17 and two thirds of its time.
 */
const defaultCost: PasswordCost = { scrypt: { logN: 15, p: 3 }, argon2: { memoryKiB: 19_456, passes: 2 } };

type Argon2 = (
  algorithm: 'argon2id',
  parameters: {
    message: string;
    nonce: Buffer;
    parallelism: number;
    tagLength: number;
    memory: number;
    passes: number;
  },
  done: (error: Error | null, hash: Buffer) => void,
) => void;

// Node has it since 24.7, but our types are for Node 20.
const argon2 = (crypto as unknown as { argon2?: Argon2 }).argon2;
const scrypt = promisify(crypto.scrypt) as (
  password: string,
  salt: Buffer,
  length: number,
  options: crypto.ScryptOptions,
) => Promise<Buffer>;

const costOfGenerated: PasswordCost = { scrypt: { logN: 10, p: 1 }, argon2: { memoryKiB: 64, passes: 1 } };

/**
 * For a generated password: 24 random characters need no slow hash, so a start is fast. The first sign-in renews it.
 */
export function hashGenerated(password: string, keys: KeyRing): Promise<string> {
  return createHasher(keys, costOfGenerated).hash(password);
}

export function createHasher(keys: KeyRing, cost: PasswordCost = defaultCost): Hasher {
  const headerOf = argon2 === undefined ? scryptHeader : argon2Header;
  const [anySalt, anyHash] = [randomBytes(16), randomBytes(32)];
  /** Unknown accounts are checked against this hash. */
  const unknownAccountHash = () => toText(headerOf(cost, keys.versions[0] ?? 0), anySalt, anyHash);

  /** A hash of older versions has no key: it is of the password itself. */
  function keyed(header: string, password: string): string {
    const message = password.normalize('NFC');
    const [, version] = /,k=(\d+)\$/.exec(header) ?? [];
    return version === undefined
      ? message
      : keyedHash(keys.keyFor('password', Number(version)), message).toString('base64url');
  }

  return {
    async hash(password) {
      const header = headerOf(cost, keys.version);
      const salt = randomBytes(16);
      return toText(header, salt, await derive(header, keyed(header, password), salt));
    },
    async verify(password, stored) {
      const { header, salt, hash } = parse(stored ?? unknownAccountHash());
      const computed = await derive(header, keyed(header, password), salt);
      return crypto.timingSafeEqual(computed, hash) && stored !== null;
    },
    isOutdated: (stored) => !stored.startsWith(headerOf(cost, keys.version)),
  };
}

/** `k` is the version of the key ring. */
function scryptHeader({ scrypt: { logN, p } }: PasswordCost, version: number): string {
  return `$scrypt$ln=${logN},r=8,p=${p},k=${version}$`;
}

function argon2Header({ argon2: { memoryKiB, passes } }: PasswordCost, version: number): string {
  return `$argon2id$m=${memoryKiB},t=${passes},p=1,k=${version}$`;
}

function toText(header: string, salt: Buffer, hash: Buffer): string {
  return `${header}${salt.toString('base64url')}$${hash.toString('base64url')}`;
}

function parse(stored: string): { header: string; salt: Buffer; hash: Buffer } {
  const [, algorithm, parameters, salt = '', hash = ''] = stored.split('$');
  const header = `$${algorithm}$${parameters}$`;
  return { header, salt: Buffer.from(salt, 'base64url'), hash: Buffer.from(hash, 'base64url') };
}

function derive(header: string, message: string, salt: Buffer): Promise<Buffer> {
  const numbers = [...header.matchAll(/=(\d+)/g)].map(([, number]) => Number(number));
  if (header.startsWith('$scrypt$')) {
    const [logN = 15, r = 8, p = 3] = numbers;
    return scrypt(message, salt, 32, { N: 2 ** logN, r, p, maxmem: 2 ** (logN + 8) * r });
  }
  const [memory = 0, passes = 0, parallelism = 1] = numbers;
  if (argon2 === undefined) throw new Error('this password was hashed by Argon2, which needs Node 24.7 or newer');
  return new Promise((resolve, reject) =>
    argon2('argon2id', { message, nonce: salt, parallelism, tagLength: 32, memory, passes }, (error, hash) =>
      error === null ? resolve(hash) : reject(error),
    ),
  );
}
