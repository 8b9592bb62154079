import type { TextToSend } from '../messages/text-to-send.ts';
import type { Clock } from '../platform/clock.ts';
import type { Config } from '../platform/config.ts';
import { type CarrierBind, canSend } from './carrier-bind-store.ts';
import { routeIn } from './environment-routes.ts';
import { emptyTable, type RouteRule, type RouteTable } from './route-table.ts';
import type { CarrierHealth } from './routing.ts';
import type { ConfiguredCarrier } from './watch-carriers.ts';

/** What routing needs to know of a text that is to go on. */
export type MovingText = Pick<TextToSend, 'id' | 'applicationId' | 'api' | 'to' | 'sender' | 'given'>;

/** Where a text may go on to. */
export interface NextCarrier {
  carrier: string;
  /** The rule that allows it; null with an empty table. */
  rule: RouteRule | null;
  version: number;
}

/** The carriers, their health and the routes, as a node that moves texts sees them. */
export interface CarrierOutlook {
  setRoutes(carriers: readonly ConfiguredCarrier[], table: RouteTable): void;
  setBinds(binds: readonly CarrierBind[]): void;
  readonly table: RouteTable;
  /** The carriers that some texts should leave, or all. */
  troubled(): Troubled[];
  /** Whether a carrier can take a text now. */
  isAvailable(key: string, to: string): boolean;
  /** The best carrier for a text that works and that it has not been given to. */
  next(text: MovingText, from: string): NextCarrier | undefined;
}

export interface Troubled {
  key: string;
  /** False if only the texts to some countries, or only codes, are concerned. */
  isDown: boolean;
  /** Since when (steady) this node has seen it so. */
  sinceMs: number;
}

export interface CarrierOutlookOptions {
  clock: Clock;
  environment: Config['environment'];
  countryOf: (to: string) => string | undefined;
}

/** A carrier that works again for less than this, like one that is being probed, has not recovered. */
const recoveredMs = 15_000;

export function createCarrierOutlook({ clock, environment, countryOf }: CarrierOutlookOptions): CarrierOutlook {
  let carriers: readonly ConfiguredCarrier[] = [];
  let table = emptyTable;
  let up = new Set<number>();
  let open = new Map<number, string[]>();
  let health: CarrierHealth[] = [];
  /** Since when each carrier cannot send, or cannot send to some countries, and when it was last so. */
  const since = new Map<string, { fromMs: number; lastMs: number }>();

  function update(): void {
    health = carriers.map(({ id, key, name, paused }) => ({
      key,
      name,
      paused,
      up: up.has(id),
      open: open.get(id) ?? [],
    }));
    const nowMs = clock.steadyMs();
    for (const [key, { lastMs }] of since) if (lastMs < nowMs - recoveredMs) since.delete(key);
    for (const { key } of health.filter(isTroubled)) {
      since.set(key, { fromMs: since.get(key)?.fromMs ?? nowMs, lastMs: nowMs });
    }
  }

  return {
    setRoutes(newCarriers, newTable) {
      carriers = newCarriers;
      table = newTable;
      update();
    },
    setBinds(binds) {
      up = new Set(binds.filter(canSend).map(({ carrierId }) => carrierId));
      open = openOf(binds);
      update();
    },
    get table() {
      return table;
    },
    troubled: () =>
      health.filter(isTroubled).map((carrier) => ({
        key: carrier.key,
        isDown: isDown(carrier),
        sinceMs: since.get(carrier.key)?.fromMs ?? clock.steadyMs(),
      })),
    isAvailable(key, to) {
      const found = health.find((carrier) => carrier.key === key);
      if (found === undefined || isDown(found)) return false;
      return found.open.length === 0 || !found.open.some((each) => each === '*' || each === countryOf(to));
    },
    next({ id, applicationId, api, to, sender, given }, from) {
      const isCode = api === 'verify';
      const facts = {
        messageId: id,
        to,
        country: countryOf(to),
        from: sender,
        api,
        applicationId,
        // Its hour was right when it was first to be sent.
        urgent: true,
        isCode,
        senderCarriers: given?.sender_carriers ?? null,
        used: [...(given?.used ?? []), from],
        nowMs: clock.nowMs(),
      };
      const decision = routeIn(environment, facts, table, health);
      if (decision.outcome !== 'routed') return undefined;
      const { candidates, rule, version } = decision;
      const found = candidates.find(({ key, available }) => available && key !== from);
      return found && { carrier: found.key, rule, version };
    },
  };
}

/** The open countries of all nodes together. */
export function openOf(binds: readonly CarrierBind[]): Map<number, string[]> {
  const open = new Map<number, string[]>();
  for (const { carrierId, open: countries = [] } of binds) {
    if (countries.length > 0) open.set(carrierId, [...new Set([...(open.get(carrierId) ?? []), ...countries])]);
  }
  return open;
}

function isDown({ paused, up }: CarrierHealth): boolean {
  return paused || !up;
}

function isTroubled(carrier: CarrierHealth): boolean {
  return isDown(carrier) || carrier.open.length > 0;
}
