import { clientScopes, type StartClient } from '../messages/client-scope.ts';
import { createMessageService } from '../messages/message-service.ts';
import type { OptOutCheck } from '../messages/opt-out-check.ts';
import { createSendRules } from '../messages/send-rules.ts';
import { createIdempotency } from '../platform/database/idempotency.ts';
import type { Registry } from '../registry/registry.ts';
import { createGuard } from '../verify/guard.ts';
import type { KnownGuard } from '../verify/guard-rules/known.ts';
import { createStartRequests } from '../verify/start/request.ts';
import { createStartRules } from '../verify/start/rules.ts';
import { createVerifyService, type VerifyServiceOptions } from '../verify/verify-service.ts';
import type { WakeDelivery } from './app-interface.ts';
import type { Carriers } from './carriers.ts';
import type { Foundation } from './foundation.ts';
import { composeHooks } from './hooks.ts';
import { createInboundNumbers } from './verify/inbound-number.ts';
import { composeRisk } from './verify/risk.ts';

export interface ApiParts {
  signProof: VerifyServiceOptions['signProof'];
  registry: Registry;
  /** Wakes the delivery workers: something is due. */
  wakeDelivery: WakeDelivery;
  carriers: Pick<Carriers, 'texts'>;
  /** The guard as it is now: a file may change its rules. */
  currentGuard: KnownGuard['current'];
  optOuts: { check: OptOutCheck; drain(): Promise<void> };
}

/** The three APIs behind the edge, and the hooks over them. */
export function composeApis(foundation: Foundation, parts: ApiParts) {
  const { signProof, registry, wakeDelivery: wake, optOuts } = parts;
  const { routeText, requireCarrier, hasChoice, workingChannels } = parts.carriers.texts;
  const { config, clock, database, sideDatabase, keys } = foundation;
  const { environment, resendSeconds } = config;
  const risk = composeRisk(foundation);
  const idempotency = createIdempotency(database, clock, keys);
  const messages = createMessageService({ database, sideDatabase, clock, routeText, wake, optOuts: optOuts.check });
  const verify = createVerifyService({
    database,
    sideDatabase,
    clock,
    keys,
    guard: createGuard(config.guard, environment),
    currentGuard: parts.currentGuard,
    environment,
    resendSeconds,
    routeText,
    askRisk: risk.ask,
    findInboundNumber: createInboundNumbers(database, environment),
    workingChannels,
    hasChoice,
    signProof,
    wake,
  });
  /** No guard counts in the sandbox, so nothing is kept there. */
  const clientsOf = (applicationId: string, client: StartClient) =>
    environment === 'sandbox' ? [] : clientScopes(keys.keyFor('client', keys.version), applicationId, client);
  const toStart = createStartRequests({ requireCarrier, workingChannels, clientsOf });
  const verifyParts = { verify, idempotency, rules: createStartRules(environment, workingChannels), toStart };
  const messageParts = { messages, idempotency, rules: createSendRules(clock, environment) };
  const hooks = composeHooks(foundation, { registry, verify: verifyParts, messages: messageParts });
  return {
    verify: verifyParts,
    messages: messageParts,
    hooks,
    async drain(): Promise<void> {
      await messages.drain();
      await verify.drain();
      await optOuts.drain();
      await hooks.drain();
      await risk.drain();
    },
  };
}
