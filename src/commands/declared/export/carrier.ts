import { isDeepStrictEqual } from 'node:util';
import type { CarrierRow } from '../../../delivery/carrier/store.ts';
import { hideSecrets } from '../../../delivery/http/secrets.ts';
import { readSettings } from '../../../delivery/setup/settings.ts';
import { isObject } from '../../../platform/is-object.ts';

/**
 * Whether an export names an environment variable for each secret, as files for `npm run carriers` do, or leaves secrets
 * out.
 */
export interface ExportForm {
  secretPlaces: boolean;
}

/** A carrier as an export writes it: settings that are not the default. */
export function exportCarrier(row: CarrierRow, form: ExportForm): object {
  const { name, kind, settings, paused } = row;
  if (kind === 'http') return exportHttp(row, form);
  const usual = readSettings({ host: 'a', system_id: 'a' }) as Record<string, unknown>;
  const { password_set, host, port, system_id, tls, ...rest } = settings;
  const changed = Object.entries(rest).filter(([key, value]) => !isDeepStrictEqual(value, usual[key]));
  const prefix = `CARRIER_${name.toUpperCase().replaceAll('-', '_')}`;
  return {
    name,
    kind,
    settings: {
      host,
      port,
      system_id,
      ...(password_set === true && form.secretPlaces && { password: { env: `${prefix}_PASSWORD` } }),
      ...(isObject(tls) && { tls: exportTls(tls, `${prefix}_TLS_KEY`, form) }),
      ...Object.fromEntries(changed),
    },
    ...(paused && { paused }),
  };
}

/** A secret that is shown as `auth_token_set` or in `secrets_set` becomes the name of an environment variable. */
function exportHttp({ name, kind, settings, paused }: CarrierRow, { secretPlaces }: ExportForm): object {
  const envOf = (field: string) => ({ env: `CARRIER_${`${name}_${field}`.toUpperCase().replaceAll('-', '_')}` });
  const all = Object.entries(hideSecrets(settings)).flatMap(([field, value]): [string, unknown][] => {
    if (!field.endsWith('_set')) return [[field, value]];
    if (!secretPlaces) return [];
    const secret = field.slice(0, -4);
    if (Array.isArray(value))
      return value.length === 0 ? [] : [[secret, Object.fromEntries(value.map((each) => [each, envOf(each)]))]];
    return value === true ? [[secret, envOf(secret)]] : [];
  });
  return { name, kind, settings: Object.fromEntries(all), ...(paused && { paused }) };
}

function exportTls({ key_set, ...tls }: Record<string, unknown>, env: string, { secretPlaces }: ExportForm): object {
  return key_set === true && secretPlaces ? { ...tls, key: { env } } : tls;
}
