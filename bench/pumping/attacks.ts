import { below, digits, oneOf, type Random } from './random.ts';
import { numberOf, ranges } from './tenants.ts';

export interface AttackStart {
  to: string;
  clients: string[];
}

export interface Attack {
  name: string;
  about: string;
  perHour: number;
  hours: number;
  /** Whether the attacked application passes `client`. */
  tellsClient: boolean;
  /** The share of its own numbers that the attacker approves. */
  approves: number;
  /** False if its starts look like those of new users: no rule can then meet both goals. */
  isTellable: boolean;
  /** Makes its starts, with what it has rented drawn first. */
  prepare: (random: Random) => () => AttackStart;
}

/** Blocks of ten thousand numbers. */
const blocks = (random: Random, from: readonly string[], count: number) =>
  Array.from({ length: count }, () => `${oneOf(random, from)}${digits(random, 2)}`);
const unknown = (random: Random) => [`address:${below(random, 2 ** 48)}`];
const within = (random: Random, prefixes: readonly string[]) => `${oneOf(random, prefixes)}${digits(random, 4)}`;
const base = { hours: 30, tellsClient: false, approves: 0, isTellable: true };
const abroad = [ranges.LK, ranges.PK, ranges.NG] as const;

export const attacks: readonly Attack[] = [
  {
    ...base,
    name: 'one prefix',
    about: '10,000 numbers in a row, of the home country',
    perHour: 400,
    prepare: (random) => {
      const rented = blocks(random, ranges.GB, 1);
      return () => ({ to: within(random, rented), clients: unknown(random) });
    },
  },
  {
    ...base,
    name: 'spread prefixes',
    about: '300 prefixes, 100 of them at home, the others in three countries',
    perHour: 1000,
    prepare: (random) => {
      const rented = [...blocks(random, ranges.GB, 100), ...abroad.flatMap((each) => blocks(random, each, 67))];
      return () => ({ to: within(random, rented), clients: unknown(random) });
    },
  },
  {
    ...base,
    name: 'slow drip',
    about: '12 prefixes at home and abroad, 20 an hour in all',
    perHour: 20,
    hours: 168,
    prepare: (random) => {
      const rented = [...blocks(random, ranges.GB, 6), ...blocks(random, ranges.PK, 6)];
      return () => ({ to: within(random, rented), clients: unknown(random) });
    },
  },
  {
    ...base,
    name: 'rented ranges that confirm',
    about: '20 prefixes at home and 20 abroad; 15 % of the numbers type their code in',
    perHour: 500,
    approves: 0.15,
    prepare: (random) => {
      const rented = [...blocks(random, ranges.GB, 20), ...blocks(random, ranges.NG, 20)];
      return () => ({ to: within(random, rented), clients: unknown(random) });
    },
  },
  {
    ...base,
    name: 'a new country',
    about: 'any number of a country that is not served',
    perHour: 1000,
    prepare: (random) => () => ({ to: numberOf(random, { ranges: ranges.PK }), clients: unknown(random) }),
  },
  {
    ...base,
    name: 'many addresses',
    about: 'any number of the home country, through 250 addresses; the application passes client',
    perHour: 1000,
    tellsClient: true,
    prepare: (random) => () => ({
      to: numberOf(random, { ranges: ranges.GB }),
      clients: clientsAt(random, `botnet${below(random, 250)}`),
    }),
  },
  {
    ...base,
    name: 'one address',
    about: 'any number of the home country, from one address; the application passes client',
    perHour: 300,
    tellsClient: true,
    prepare: (random) => () => ({
      to: numberOf(random, { ranges: ranges.GB }),
      clients: clientsAt(random, 'attacker'),
    }),
  },
  {
    ...base,
    name: 'indistinguishable',
    about: 'any number of the home country, and no client passed',
    perHour: 1000,
    hours: 24,
    isTellable: false,
    prepare: (random) => () => ({ to: numberOf(random, { ranges: ranges.GB }), clients: [] }),
  },
];

/** It changes its program's name each time. */
function clientsAt(random: Random, address: string): string[] {
  return [`program:${address} ${below(random, 500)}`, `address:${address}`];
}
