import { createCallLog } from '../hooks/calls.ts';
import type { Hook } from '../hooks/hook.ts';
import { createHookIds } from '../hooks/hook-id.ts';
import type { HookPayload } from '../hooks/payload.ts';
import { createHookReceiver, type KnownHook } from '../hooks/receive.ts';
import { createHookSecrets } from '../hooks/secret.ts';
import { createHookService } from '../hooks/service.ts';
import { findHook, openSecrets } from '../hooks/store.ts';
import { createHookTexts, type HookTextParts } from '../hooks/texts.ts';
import { isRight, problemsOf, validationError } from '../http/request/validation.ts';
import { createCredentialCache } from '../registry/credential-cache.ts';
import { callerOf } from '../registry/directory.ts';
import type { Registry } from '../registry/registry.ts';
import type { StartBody } from '../verify/start/request.ts';
import { localeProblem } from '../verify/texts/translations.ts';
import type { VerifyRoutesOptions } from '../verify/verify-api.ts';
import type { Foundation } from './foundation.ts';

export interface HookParts {
  registry: Registry;
  verify: Pick<VerifyRoutesOptions, 'verify' | 'rules' | 'toStart'>;
  messages: HookTextParts;
}

/** Hooks to remember. */
const mostHooks = 20_000;

/** Builds the endpoint that identity servers call, on top of the verify and message services. */
export function composeHooks(foundation: Foundation, { registry, ...apis }: HookParts) {
  const { config, clock, sideDatabase: database, keys, log } = foundation;
  const { directory, feed } = registry;
  const secrets = createHookSecrets(keys);
  const ids = createHookIds(keys, clock);
  const calls = createCallLog({ database, clock, log });
  /** Changes of a hook are changes of its application, so all nodes forget it. */
  const known = createCredentialCache<KnownHook>({
    async read(hookId) {
      const hook = await findHook(database, hookId);
      const application = hook && (await directory.readApplication(hook.applicationId));
      if (hook === undefined || application === undefined) return undefined;
      const [verify, sms] = [callerOf(application, 'verify', undefined), callerOf(application, 'sms', undefined)];
      const value = { hook, secrets: await openSecrets(database, hookId, secrets), verify, sms };
      return { value, application, endsAtMs: Number.POSITIVE_INFINITY };
    },
    feed,
    applications: directory,
    clock,
    most: mostHooks,
  });

  const receiver = createHookReceiver({
    clock,
    calls,
    hashesOf: secrets.hashesOf,
    find(hookId) {
      const remembered = known.remembered(hookId);
      if (remembered !== undefined) return remembered;
      return ids.isPlausible(hookId) ? known.lookUp(hookId) : null;
    },
    async start(caller, payload, { hook, origin }) {
      const { verify, rules, toStart } = apis.verify;
      const body = startBody(hook, payload);
      if (!isRight(rules.schema, body)) throw validationError(problemsOf(rules.schema, body));
      const request = toStart(caller, body as StartBody, origin);
      return (await verify.start(request, undefined, () => undefined)).record;
    },
    send: createHookTexts(apis.messages),
  });

  const service = createHookService({
    ...{ database, clock, secrets, ids, calls, publicUrl: config.publicUrl },
    change: registry.service.changeOwn,
    requireOwn: registry.service.requireOwn,
  });
  return { receiver, service, drain: calls.drain };
}

/** Leaves out an invalid language and an address that is too long: neither must stop a code. */
function startBody(hook: Hook, { to, code, locale, ip }: HookPayload): object {
  const language = locale !== undefined && localeProblem(locale) === undefined ? locale : hook.locale;
  const client = ip !== undefined && ip.length <= 45 ? { client: { ip } } : {};
  return { to, code, channel: 'sms', ...(language !== null && { locale: language }), ...client };
}
