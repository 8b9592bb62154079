import { isDeepStrictEqual } from 'node:util';
import type { SmppSettings } from '../smpp/settings.ts';
import type { ConfiguredCarrier } from './watch.ts';

/** Settings that a session is connected and bound with. All others act on the live session. */
const bindSettings = [
  'host',
  'port',
  'hosts',
  'local_address',
  'tls',
  'system_id',
  'password',
  'system_type',
  'address_range',
  'bind',
] as const satisfies readonly (keyof SmppSettings)[];

/** Whether a carrier has to stop, and restart if it still exists. A carrier by HTTP has no session to lose. */
export function isOver(before: ConfiguredCarrier, now: ConfiguredCarrier | undefined): boolean {
  if (now === undefined || now.account !== before.account) return true;
  // Requests contain the addresses of callbacks.
  if (now.callbackToken !== before.callbackToken) return true;
  if (now.kind === 'smpp' && before.kind === 'smpp')
    return bindSettings.some((name) => !isDeepStrictEqual(before.settings[name], now.settings[name]));
  return !isDeepStrictEqual(before.settings, now.settings);
}
