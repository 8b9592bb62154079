import { createWebhookGuard } from '../../platform/http-out/address-guard.ts';
import { createGuardedClient } from '../../platform/http-out/client.ts';
import { createNameResolver } from '../../platform/http-out/name-resolver.ts';
import { type CallbackWorker, createCallbackWorker } from '../../twilio/callbacks/worker.ts';
import { createTwilioTokens } from '../../twilio/token.ts';
import type { WebhookWork } from '../webhooks.ts';

/** Builds the worker that calls the status callback URLs of texts, for the delivery thread or a test. */
export function createCallbackWork(
  work: Pick<WebhookWork, 'config' | 'database' | 'clock' | 'keys' | 'log' | 'tracer'>,
): CallbackWorker {
  const { config, database, clock, keys, log, tracer } = work;
  const guard = createWebhookGuard(config.environment, createNameResolver());
  const client = createGuardedClient({ guard, clock });
  return createCallbackWorker({ database, clock, log, client, tokens: createTwilioTokens(keys), tracer });
}
