export interface SoakArguments {
  minutes: number;
  rate: number;
}

export const help = `A long run under mixed load that watches memory, descriptors, sizes and promises, and gives a verdict.

Usage: npm run soak -- <minutes> [--rate <n>]

  <minutes>     how long the load runs, 0.1 to 10080 (a week)
  --rate <n>    1 is about 100 requests a second; 0.1 to 50 (1)

It starts a service, a Postgres and carriers of its own on this machine and removes them in the end.
Ctrl-C ends the run early with the verdict so far. The result is written to bench/results.`;

/** Reads the command line; a sentence says what is wrong with it. */
export function readSoakArguments(args: string[]): SoakArguments | { problem: string } | 'help' {
  if (args.includes('--help') || args.includes('-h')) return 'help';
  let minutes: number | undefined;
  let rate = 1;
  for (let index = 0; index < args.length; index++) {
    const [name = '', ...values] = (args[index] ?? '').split('=');
    if (name === '--rate') {
      rate = readNumber(values.length > 0 ? values.join('=') : args[++index]);
      if (!(rate >= 0.1 && rate <= 50)) return { problem: '--rate must be a number from 0.1 to 50.' };
    } else if (name.startsWith('-')) return { problem: `Unknown option ${name}.` };
    else if (minutes !== undefined) return { problem: 'Give the minutes once.' };
    else minutes = readNumber(args[index]);
  }
  if (minutes === undefined) return { problem: 'Say how many minutes, like: npm run soak -- 90' };
  if (!(minutes >= 0.1 && minutes <= 10_080)) return { problem: 'The minutes must be a number from 0.1 to 10080.' };
  return { minutes, rate };
}

function readNumber(written: string | undefined): number {
  return /^\d{1,6}(\.\d{1,3})?$/.test(written ?? '') ? Number(written) : Number.NaN;
}
