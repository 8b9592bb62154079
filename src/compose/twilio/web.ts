import { createWebhookGuard } from '../../platform/http-out/address-guard.ts';
import { createNameResolver } from '../../platform/http-out/name-resolver.ts';
import type { Registry } from '../../registry/registry.ts';
import { createTwilioAccounts } from '../../twilio/account-service.ts';
import { createTwilioLookup } from '../../twilio/caller-lookup.ts';
import { createTwilioErrors } from '../../twilio/errors.ts';
import { createTwilioTokens } from '../../twilio/token.ts';
import type { Foundation } from '../foundation.ts';

/** Builds what web nodes need for the Twilio-compatible API: its credentials, and services for its routes. */
export function composeTwilio(foundation: Foundation, { service, directory, feed }: Registry) {
  const { config, clock, database, sideDatabase, keys } = foundation;
  const tokens = createTwilioTokens(keys);
  const lookup = { database, clock, feed, directory, tokens };
  const { publicUrl } = config;
  const guard = createWebhookGuard(config.environment, createNameResolver());
  return {
    sids: { verify: createTwilioLookup('verify', lookup), sms: createTwilioLookup('sms', lookup) },
    accounts: createTwilioAccounts({
      ...{ database: sideDatabase, clock, tokens, publicUrl },
      ringVersion: () => keys.version,
      change: service.changeOwn,
      requireOwn: service.requireOwn,
    }),
    routes: {
      errors: createTwilioErrors(publicUrl),
      publicUrl,
      urlProblem: (url: string) => (url.includes('#') ? 'must not have a fragment (#)' : guard.urlProblem(url)),
    },
  };
}

export type Twilio = ReturnType<typeof composeTwilio>;
