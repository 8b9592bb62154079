import type { Load } from './plan.ts';

export interface CapacityArguments {
  /** Undefined: the usual ones. */
  texts: number | undefined;
  codes: number | undefined;
  carrierRate: number;
}

export const usualTexts = [100, 500, 1000, 5000, 20_000];
const usualCarrierRate = 50;
/** Of these loads the arithmetic is shown. */
const shownTexts = 1000;

export const help = `What a load needs, by a measurement of about a minute on this machine.

Usage: npm run capacity -- [--texts <n>] [--codes <n>] [--carrier-rate <n>]

  --texts <n>           texts a second in the busiest minute (a table for ${usualTexts.join(', ')})
  --codes <n>           verifications a second (a tenth of the texts)
  --carrier-rate <n>    texts a second that your carrier takes on one bind (${usualCarrierRate})

It starts a service and a Postgres of its own and removes them in the end. Run it while the machine is quiet.`;

/** Reads the command line; a sentence says what is wrong with it. */
export function readCapacityArguments(args: string[]): CapacityArguments | { problem: string } | 'help' {
  if (args.includes('--help') || args.includes('-h')) return 'help';
  const found: Partial<Record<string, number>> = {};
  for (let index = 0; index < args.length; index++) {
    const [name = '', ...values] = (args[index] ?? '').split('=');
    if (!names.includes(name)) return { problem: `Unknown option ${name}.` };
    const written = values.length > 0 ? values.join('=') : args[++index];
    const value = /^\d{1,7}(\.\d{1,3})?$/.test(written ?? '') ? Number(written) : Number.NaN;
    const least = name === '--codes' ? 0 : 0.1;
    if (!(value >= least && value <= 1_000_000))
      return { problem: `${name} must be a number from ${least} to 1000000.` };
    found[name] = value;
  }
  return { texts: found['--texts'], codes: found['--codes'], carrierRate: found['--carrier-rate'] ?? usualCarrierRate };
}

const names = ['--texts', '--codes', '--carrier-rate'];

/** The loads of the table; the first is the one whose arithmetic is shown. */
export function loadsOf({ texts, codes, carrierRate }: CapacityArguments): { shown: Load; all: Load[] } {
  const load = (textsPerSecond: number): Load => ({
    textsPerSecond,
    codesPerSecond: codes ?? textsPerSecond / 10,
    carrierRate,
  });
  if (texts !== undefined) return { shown: load(texts), all: [load(texts)] };
  return { shown: load(shownTexts), all: usualTexts.map(load) };
}
