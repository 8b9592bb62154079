import { addressKey } from '../../edge/address-key.ts';
import { limitRefusal } from '../../edge/limit-refusal.ts';
import { neverInformed, type Windows } from '../../edge/windows.ts';
import type { CountedRequest } from '../../http/admission.ts';
import { findInboundTexts } from '../../inbound/inbound-store.ts';
import type { MessageService } from '../../messages/message-service.ts';
import { findByKeys } from '../../messages/message-store.ts';
import type { Registry } from '../../registry/registry.ts';
import { createAccountLookup } from '../../smpp-server/account-lookup.ts';
import { createSmppAccounts } from '../../smpp-server/account-service.ts';
import type { Bind } from '../../smpp-server/bind.ts';
import { createBinds } from '../../smpp-server/binds.ts';
import { createSmppCredentials } from '../../smpp-server/credentials.ts';
import { createDeliveries } from '../../smpp-server/deliveries.ts';
import { createDesk } from '../../smpp-server/desk.ts';
import { createLookups } from '../../smpp-server/lookups.ts';
import { createParts } from '../../smpp-server/parts.ts';
import { createSmppServer } from '../../smpp-server/server.ts';
import { createSubmits } from '../../smpp-server/submits.ts';
import type { Foundation } from '../foundation.ts';

export interface SmppParts {
  registry: Registry;
  /** The windows of registrations. */
  registrations: Windows;
  messages: MessageService;
  onCounted: (request: CountedRequest) => void;
}

export type Smpp = ReturnType<typeof composeSmpp>;

const wrongPasswordMs = 1000;
/** How long peers may finish what is under way when the service stops. */
const mostDrainMs = 5000;

/** Builds the SMPP server that programs connect to, on top of the message service. Workers do not open it. */
export function composeSmpp(foundation: Foundation, { registry, registrations, messages, onCounted }: SmppParts) {
  const { config, clock, database, sideDatabase, keys, log, metrics, windows, tracer } = foundation;
  const { environment, passwordPerMinute: perMinute } = config;
  const { directory, feed, service } = registry;
  const credentials = createSmppCredentials(keys);
  const accounts = createAccountLookup({ database: sideDatabase, clock, feed, directory, credentials });
  const tries = { perMinute, burst: perMinute };
  const triesOf = (address: string) => `smpp ${addressKey(address)}`;
  let submitted = 0;

  const binds = createBinds({
    ...{ database: sideDatabase, clock, log },
    onEnd: (bind) => desk.end(bind, 0),
    isDead(bind) {
      const known = accounts.remembered(bind.key);
      // Look the account up again: the lookup after a change may have failed, and a receiver sends nothing that would repeat
      // it.
      if (known === undefined) void check(bind);
      return known === null;
    },
  });
  const parts = createParts({ database, clock, keys, messages });
  const deliveries = createDeliveries({
    ...{ database, clock, log },
    findMessages: (wanted) => findByKeys(sideDatabase, wanted),
    findInbound: (ids) => findInboundTexts(sideDatabase, ids),
  });
  const submits = createSubmits({
    ...{ clock, log, environment, messages, tracer },
    find(bind) {
      submitted++;
      const known = accounts.remembered(bind.key);
      return known === undefined ? accounts.lookUp(bind.key) : known;
    },
    limiter: {
      decide: ({ caller, limits }) => registrations.decide(caller.windowKey, limits, neverInformed),
      giveBack: ({ caller }, decision) => registrations.giveBack(caller.windowKey, decision),
      refusalOf: limitRefusal,
    },
    onCounted,
    onRefused({ account }, command, { status, why }) {
      binds.note({ accountId: account.id, atMs: clock.nowMs(), command, status, why });
    },
    addPart: parts.add,
  });
  const desk = createDesk({
    ...{ clock, log, environment, accounts, credentials, binds, submits, deliveries },
    lookups: createLookups({ messages, parts }),
    mayTry: async (address) => (await windows.passwords.peek(triesOf(address), tries)).admitted,
    chargeAddress: (address) => windows.passwords.decide(triesOf(address), tries, neverInformed),
    delayMs: wrongPasswordMs,
  });
  const server = createSmppServer({ listening: { ...config.smpp, host: config.host }, clock, log, desk });
  metrics.gauge('heliograph_smpp_binds', 'Programs that are bound by SMPP', () => binds.size);
  metrics.counter('heliograph_smpp_requests_total', 'Requests by SMPP', () => submitted);

  /** Ends a bind whose account, password, application or registration is gone. */
  async function check(bind: Bind): Promise<void> {
    const known = await accounts.lookUp(bind.key).catch(() => undefined);
    if (known === null) desk.end(bind, 0);
  }

  return {
    get port() {
      return server.port;
    },
    get tlsPort() {
      return server.tlsPort;
    },
    /** Checks the binds of an application again after its change; without an id, all binds. */
    recheck(applicationId?: string): void {
      for (const bind of binds.all)
        if (applicationId === undefined || bind.account.applicationId === applicationId) void check(bind);
    },
    routes: {
      database: sideDatabase,
      clock,
      accounts: createSmppAccounts({
        ...{ database: sideDatabase, clock, credentials },
        change: service.changeOwn,
        requireOwn: service.requireOwn,
      }),
      listening: config.smpp,
      publicUrl: config.publicUrl,
    },
    async start(): Promise<void> {
      if (config.role !== 'worker') await server.start();
    },
    async stop(graceMs: number): Promise<void> {
      await server.stop(Math.min(graceMs, mostDrainMs));
      await parts.drain();
      await deliveries.stop();
      await binds.stop();
    },
  };
}
