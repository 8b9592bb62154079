// Tests: test/smpp/failover.test.ts
import type { Clock } from '../../platform/clock.ts';
import type { Environment } from '../../platform/environment.ts';
import type { CarrierBind } from '../carrier/bind-store.ts';
import type { CarrierFacts } from '../carrier/configured.ts';
import { bindsOf, createTroubleTimes, healthOf, isDown } from './carriers-now.ts';
import { isTestNumber } from './environment.ts';
import { openingAfter } from './hours.ts';
import { matchingRule } from './matching.ts';
import { findNextCarrier, type MovingText, type NextCarrier } from './next-carrier.ts';
import type { CarrierHealth } from './routing.ts';
import { emptyTable, type RouteTable } from './table.ts';

/** The carriers, their health and the routes, as a node that moves texts sees them. */
export interface CarrierOutlook {
  setRoutes(carriers: readonly CarrierFacts[], table: RouteTable): void;
  setBinds(binds: readonly CarrierBind[]): void;
  readonly table: RouteTable;
  /** The carriers as they are now. */
  list(): readonly CarrierHealth[];
  /** Carriers that cannot send, to some countries or to all. */
  troubled(): Troubled[];
  /** Whether a carrier can take a text now. */
  isAvailable(key: string, to: string): boolean;
  /** The best working carrier that has not had the text yet. */
  next(text: MovingText, from: string): NextCarrier | undefined;
  /** When the hours of the text's route begin; null if it may leave now. */
  opensAtMs(text: MovingText): number | null;
}

export interface Troubled {
  key: string;
  /** False if only some countries, or only codes, are affected. */
  isDown: boolean;
  /** When (steady clock) this node first saw the trouble. */
  sinceMs: number;
}

export interface CarrierOutlookOptions {
  clock: Clock;
  environment: Environment;
  countryOf: (to: string) => string | undefined;
}

export function createCarrierOutlook({ clock, environment, countryOf }: CarrierOutlookOptions): CarrierOutlook {
  let carriers: readonly CarrierFacts[] = [];
  let table = emptyTable;
  let binds: readonly CarrierBind[] = [];
  let health: CarrierHealth[] = [];
  const times = createTroubleTimes(clock);

  function update(): void {
    health = carriers.map((carrier) => healthOf(carrier, bindsOf(binds, carrier)));
    times.note(health.filter(isTroubled).map(({ key }) => key));
  }

  return {
    setRoutes(newCarriers, newTable) {
      carriers = newCarriers;
      table = newTable;
      update();
    },
    setBinds(newBinds) {
      binds = newBinds;
      update();
    },
    get table() {
      return table;
    },
    list: () => health,
    troubled: () =>
      health.filter(isTroubled).map((carrier) => ({
        key: carrier.key,
        isDown: isDown(carrier),
        sinceMs: times.sinceMs(carrier.key) ?? clock.steadyMs(),
      })),
    isAvailable(key, to) {
      const found = health.find((carrier) => carrier.key === key);
      if (found === undefined || isDown(found)) return false;
      return found.open.length === 0 || !found.open.some((each) => each === '*' || each === countryOf(to));
    },
    next: (text, from) => findNextCarrier(text, from, { environment, table, health, countryOf, nowMs: clock.nowMs() }),
    opensAtMs({ applicationId, api, to, sender: from, given }) {
      if (table.routes.every(({ hours }) => hours === null) || isTestNumber(environment, to)) return null;
      const about = { applicationId, api, channel: given?.channel, to, from };
      const rule = matchingRule(table.routes, { ...about, country: countryOf(to) });
      return rule?.hours ? openingAfter(rule.hours, clock.nowMs()) : null;
    },
  };
}

function isTroubled(carrier: CarrierHealth): boolean {
  return isDown(carrier) || carrier.open.length > 0;
}
