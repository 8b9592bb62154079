import type { Scenario } from './simulate.ts';
import { large, medium, networkOf, ranges, small, type Tenant } from './tenants.ts';

/** Traffic without an attack, in which no start should be refused. */
export interface HonestTraffic {
  name: string;
  scenarios: (seed: number) => Scenario[];
}

const ofNetwork = (to: string) => to.startsWith('+44') && networkOf(to) === 1;
const sizes: readonly Tenant[] = [
  small,
  medium,
  large,
  { ...medium, tellsClient: true },
  { ...large, tellsClient: true },
];
const each = (hours: number, more: (tenant: Tenant) => Partial<Scenario>) => (seed: number) =>
  sizes.map((tenant): Scenario => ({ tenant, seed, hours, ...more(tenant) }));

export const honestTraffic: readonly HonestTraffic[] = [
  { name: 'ordinary days', scenarios: each(30, () => ({})) },
  {
    name: 'a campaign: 8 times the people for 4 hours',
    scenarios: each(30, () => ({ rush: (hour) => (hour >= 14 && hour < 18 ? 8 : 1) })),
  },
  {
    name: 'a new market: a quarter of the usual people more, half the usual share',
    scenarios: each(42, ({ perDay }) => ({
      launch: { code: 'ES', ranges: ranges.ES, part: 0, share: 0.4, perDay: perDay / 4, isNew: true },
    })),
  },
  {
    name: 'a broken carrier: one network loses all texts for 12 hours',
    scenarios: each(30, () => ({ isLost: (to, hour) => hour >= 10 && hour < 22 && ofNetwork(to) })),
  },
  {
    name: 'a broken carrier: a country loses all texts for 6 hours',
    scenarios: each(30, () => ({ isLost: (to, hour) => hour >= 12 && hour < 18 && to.startsWith('+44') })),
  },
  {
    name: 'a broken carrier: a country loses two thirds for a day',
    scenarios: each(36, () => ({
      isLost: (to, hour, random) => hour >= 8 && hour < 32 && to.startsWith('+44') && random() < 0.67,
    })),
  },
];
