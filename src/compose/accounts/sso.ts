import { createProvider } from '../../accounts/sso/provider.ts';
import { createRechecks } from '../../accounts/sso/rechecks.ts';
import { createSealRefresh } from '../../accounts/sso/seal-refresh.ts';
import { createSsoService, type SsoServiceOptions } from '../../accounts/sso/service.ts';
import type { Foundation } from '../foundation.ts';

type SsoParts = Omit<SsoServiceOptions, 'database' | 'clock' | 'keys' | 'log' | 'settings' | 'provider' | 'seals'>;

/** Single sign-on, and the checks of its sessions. Without the settings there is neither. */
export function composeSso({ config, sideDatabase: database, clock, keys, log }: Foundation, parts: SsoParts) {
  const { sso: settings, publicUrl } = config;
  if (settings === undefined) return { sso: undefined, ssoRechecks: undefined };
  const provider = createProvider({ settings, publicUrl, clock });
  const seals = createSealRefresh(keys);
  return {
    sso: createSsoService({ ...parts, database, clock, keys, log, settings, provider, seals }),
    ssoRechecks: createRechecks({ database, clock, log, provider, seals }),
  };
}
