// Tests: src/delivery/setup/settings.test.ts
import type { KeyRing } from '../../platform/crypto/keys.ts';
import { isObject } from '../../platform/is-object.ts';
import type { SmppSettings } from '../smpp/settings.ts';

/** Secrets, which are never read back. */
export interface CarrierSecrets {
  password?: string;
  /** The private key of the client's certificate. */
  tlsKey?: string;
  /** The secrets of a carrier of kind `http`, by name. */
  fields?: Record<string, string>;
}

type SmppTls = Exclude<SmppSettings['tls'], false>;

/** Settings as they are stored and shown: a flag replaces each secret, and says whether there is one. */
export type ShownSettings = Omit<SmppSettings, 'password' | 'tls'> & {
  password_set: boolean;
  tls: false | (Omit<SmppTls, 'key'> & { key_set: boolean });
};

export function splitSecrets({ password, tls, ...rest }: SmppSettings): {
  settings: ShownSettings;
  secrets: CarrierSecrets;
} {
  const { key = undefined, ...openTls } = tls === false ? {} : tls;
  return {
    settings: {
      ...rest,
      password_set: password !== undefined,
      tls: tls === false ? false : { ...openTls, key_set: key !== undefined },
    },
    secrets: { ...(password !== undefined && { password }), ...(key !== undefined && { tlsKey: key }) },
  };
}

export function joinSecrets(shown: ShownSettings, { password, tlsKey }: CarrierSecrets): SmppSettings {
  const { password_set: _, tls, ...rest } = shown;
  return { ...rest, ...(password !== undefined && { password }), tls: tls === false ? false : withKey(tls, tlsKey) };
}

function withKey({ key_set: _, ...tls }: Exclude<ShownSettings['tls'], false>, key: string | undefined): SmppTls {
  return key === undefined ? tls : { ...tls, key };
}

/**
 * Adds the secrets that new settings do not name, and takes away those that are null. A private key stays only where its
 * certificate does.
 */
export function keepSecrets(given: unknown, before: SmppSettings): unknown {
  if (!isObject(given)) return given;
  const { password = before.password ?? null, tls, ...rest } = given;
  return {
    ...rest,
    ...(password !== null && { password }),
    ...(tls !== undefined && { tls: isObject(tls) ? keepKey(tls, before.tls) : tls }),
  };
}

function keepKey({ key, ...tls }: Record<string, unknown>, before: SmppSettings['tls']): object {
  const kept = before === false || tls.cert === undefined ? undefined : before.key;
  const used = key === undefined ? kept : key;
  return (used ?? null) === null ? tls : { ...tls, key: used };
}

/** Seals for one row: a copy in another row cannot be opened. Null when there is nothing to seal. */
export function sealSecrets(keys: KeyRing, carrierId: number, secrets: CarrierSecrets): Buffer | null {
  if (Object.keys(secrets).length === 0) return null;
  return keys.seal(Buffer.from(JSON.stringify(secrets)), contextOf(carrierId));
}

export function openSecrets(keys: KeyRing, carrierId: number, sealed: Buffer | null): CarrierSecrets {
  if (sealed === null) return {};
  return JSON.parse(keys.open(sealed, contextOf(carrierId)).toString()) as CarrierSecrets;
}

function contextOf(carrierId: number): string {
  return `carrier:${carrierId}`;
}
