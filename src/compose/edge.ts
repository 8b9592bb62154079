import { attemptCookieOf } from '../accounts/sso/service.ts';
import { createAddressLimits } from '../edge/address-limits.ts';
import { createApplicationAccess } from '../edge/application-access.ts';
import { createGateway } from '../edge/gateway.ts';
import type { Windows } from '../edge/windows.ts';
import { createWorkerGateway } from '../edge/worker-node.ts';
import type { Gateway } from '../http/admission.ts';
import { createFindOwnCaller } from '../registry/own-caller.ts';
import { apiPrefixes } from '../routes.ts';
import type { Accounts } from './accounts.ts';
import type { Foundation } from './foundation.ts';
import type { Identity } from './identity.ts';
import type { Twilio } from './twilio/web.ts';

export interface EdgeParts {
  identity: Identity;
  accounts: Accounts;
  /** The windows of registrations. */
  registrations: Windows;
  carriers: { isCallback: (path: string) => boolean };
  twilio: Pick<Twilio, 'sids'>;
}

/** Builds the gateway that every request passes first. A worker node answers only health checks and metrics. */
export function composeEdge({ config, windows }: Foundation, parts: EdgeParts): Gateway {
  const { registry, verifier } = parts.identity;
  const { sessions } = parts.accounts;
  const { publicUrl } = config;
  const addresses = createAddressLimits(windows.visitors, config.addressLimits);
  const gateway = createGateway({
    applications: createApplicationAccess({
      keys: registry.keyLookup,
      tokens: verifier,
      sids: parts.twilio.sids,
      registrations: parts.registrations,
      addresses,
    }),
    findSession: sessions.find,
    findOpenSessions: sessions.findOpen,
    findOwnCaller: createFindOwnCaller(registry.directory),
    sessionCookie: sessions.cookieName,
    attemptCookie: attemptCookieOf(publicUrl.startsWith('https:')),
    addresses,
    identityAddresses: createAddressLimits(windows.clients, config.addressLimits),
    apis: apiPrefixes,
    metrics: { token: config.metricsToken, openToLoopback: config.environment === 'sandbox' },
    isCallback: parts.carriers.isCallback,
    publicUrl,
    operatorsNeedSecondFactor: config.operatorSecondFactor === 'required',
  });
  return config.role === 'worker' ? createWorkerGateway(gateway) : gateway;
}
