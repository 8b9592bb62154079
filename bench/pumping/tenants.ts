import { below, digits, oneOf, type Random } from './random.ts';

/** Where an application has users. */
export interface Market {
  code: string;
  /** What its ranges of a million numbers begin with. */
  ranges: readonly string[];
  /** The part of the application's users, and how many of them type their code in. */
  part: number;
  share: number;
  /** Not served before the simulation begins. */
  isNew?: boolean;
}

export interface Tenant {
  name: string;
  perDay: number;
  markets: readonly Market[];
  /** Starts of numbers that the application approved in the last 28 days. */
  returning: number;
  /** Whether it passes `client`. */
  tellsClient: boolean;
}

const rangesOf = (lead: string, count: number) => Array.from({ length: count }, (_, index) => `${lead}${10 + index}`);
export const ranges = {
  GB: rangesOf('+4477', 80),
  DE: rangesOf('+4917', 80),
  ES: rangesOf('+346', 80),
  FR: rangesOf('+336', 80),
  LK: rangesOf('+9477', 20).map((lead) => lead.slice(0, 6)),
  PK: rangesOf('+9230', 60),
  NG: rangesOf('+23480', 60),
} as const;

const home = (share = 0.8): Market[] => [
  { code: 'GB', ranges: ranges.GB, part: 0.8, share },
  { code: 'DE', ranges: ranges.DE, part: 0.18, share: share - 0.05 },
  { code: 'FR', ranges: ranges.FR, part: 0.02, share: share - 0.1 },
];

export const small: Tenant = { name: '200 a day', perDay: 200, markets: home(), returning: 0.4, tellsClient: false };
export const medium: Tenant = { ...small, name: '2,500 a day', perDay: 2500 };
export const large: Tenant = { ...small, name: '8,000 a day', perDay: 8000, markets: home(0.7) };
export const tenants: readonly Tenant[] = [small, medium, large];

/** How uneven people are spread over ranges, and over the blocks in them. */
const unevenness = 1.3;

/** The part of people who have a number in a range or block, by its index and their number. */
export const partOfPlace = (index: number, count: number) =>
  ((index + 1) / count) ** (1 / unevenness) - (index / count) ** (1 / unevenness);

/** A person's number: some ranges, and some blocks of ten thousand in them, have more people than others. */
export function numberOf(random: Random, { ranges: all }: Pick<Market, 'ranges'>): string {
  const range = all[Math.floor(random() ** unevenness * all.length)] ?? '';
  const block = Math.floor(random() ** unevenness * 100);
  return `${range}${String(block).padStart(2, '0')}${digits(random, 4)}`;
}

/** One network has a quarter of a country's ranges. */
export const networkOf = (to: string) => Number(to.slice(-8, -6)) % 4;

/** The groups of a person's client: every third shares an address of their network, the others have one of their own. */
export function clientOf(random: Random, { perDay }: Tenant, to: string): string[] {
  const person = `${below(random, 2 ** 32)}.${below(random, 2 ** 32)}`;
  const isShared = random() < 0.33;
  const address = isShared ? `shared${networkOf(to)}-${below(random, Math.max(2, perDay / 240))}` : person;
  const program = `${address} ${oneOf(random, [0, 0, 0, 1, 1, 2, 3, 4, 5, 6, 7])}`;
  return [`device:${person}`, `program:${program}`, `address:${address}`];
}

/** Few at night, most in the evening. */
export const partOfDay = (hour: number) => (1 + 0.85 * Math.sin(((hour - 10) / 24) * 2 * Math.PI)) / 24;
