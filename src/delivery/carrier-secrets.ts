import type { KeyRing } from '../platform/keys.ts';
import type { SmppSettings } from './smpp/smpp-settings.ts';

/** What is never read back. */
export interface CarrierSecrets {
  password?: string;
  /** The private key of the client's certificate. */
  tlsKey?: string;
}

/** Settings as they are stored, without secrets. */
export type OpenSettings = Omit<SmppSettings, 'password' | 'tls'> & { tls: false | Omit<SmppTls, 'key'> };
type SmppTls = Exclude<SmppSettings['tls'], false>;

export function splitSecrets({ password, tls, ...rest }: SmppSettings): {
  settings: OpenSettings;
  secrets: CarrierSecrets;
} {
  const { key = undefined, ...openTls } = tls === false ? {} : tls;
  return {
    settings: { ...rest, tls: tls === false ? false : openTls },
    secrets: { ...(password !== undefined && { password }), ...(key !== undefined && { tlsKey: key }) },
  };
}

export function joinSecrets(settings: OpenSettings, { password, tlsKey }: CarrierSecrets): SmppSettings {
  const { tls } = settings;
  return {
    ...settings,
    ...(password !== undefined && { password }),
    tls: tls === false || tlsKey === undefined ? tls : { ...tls, key: tlsKey },
  };
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
