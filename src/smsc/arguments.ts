import { StartError } from '../platform/errors.ts';
import { toRun } from '../platform/how-to-run.ts';
import { type Behaviour, readBehaviour, rightValue, switches, switchNames } from './faults.ts';

export interface SmscArguments {
  port: number;
  pagePort: number;
  password: string | undefined;
  behaviour: Partial<Behaviour>;
}

const defaults = { port: 2775, pagePort: 2780 };
const flagOf = (name: string) => `--${name.replaceAll('_', '-')}`;
/** `--receipt-after 500ms` reads better than `--receipt-after-ms 500`; both are right. */
const shortNames: Record<string, keyof Behaviour> = {
  '--receipt-after': 'receipt_after_ms',
  '--slow': 'slow_ms',
};

/** Reads the command line, or returns 'help'. */
export function readArguments(args: readonly string[]): SmscArguments | 'help' {
  const found: SmscArguments = { ...defaults, password: undefined, behaviour: {} };
  const wanted: Record<string, unknown> = {};
  for (let i = 0; i < args.length; i++) {
    const [flag = '', written] = splitFlag(args[i] ?? '');
    if (flag === '--help' || flag === '-h') return 'help';
    const name = shortNames[flag] ?? switchNames.find((known) => flagOf(known) === flag);
    const isFlag = name !== undefined && typeof switches[name].byDefault === 'boolean';
    const value = written ?? (isFlag ? 'true' : args[++i]);
    if (value === undefined) throw new StartError(`${flag} needs a value. ${seeHelp()}`);
    if (flag === '--port') found.port = readPort(flag, value);
    else if (flag === '--page-port') found.pagePort = readPort(flag, value);
    else if (flag === '--password') found.password = value;
    else if (name === undefined) throw new StartError(`Unknown option ${flag}. ${seeHelp()}`);
    else wanted[name] = name.endsWith('_ms') ? toMilliseconds(value) : value;
  }
  const behaviour = readBehaviour(wanted);
  if (typeof behaviour === 'string') throw new StartError(`${behaviour} ${seeHelp()}`);
  found.behaviour = behaviour;
  return found;
}

export const seeHelp = () => `See ${toRun('smsc', '--help')}.`;

function splitFlag(argument: string): [string, string | undefined] {
  const equals = argument.indexOf('=');
  return equals === -1 ? [argument, undefined] : [argument.slice(0, equals), argument.slice(equals + 1)];
}

function readPort(flag: string, written: string): number {
  const port = /^[0-9]{1,5}$/.test(written) ? Number(written) : -1;
  if (port < 0 || port > 65_535) throw new StartError(`${flag} must be a port, 0 to 65535.`);
  return port;
}

/** `500`, `500ms` and `2s`. */
function toMilliseconds(written: string): string {
  const [, amount, unit] = /^([0-9]{1,7})(ms|s)?$/.exec(written) ?? [];
  if (amount === undefined) return written;
  return unit === 's' ? String(1000 * Number(amount)) : amount;
}

export function helpText(): string {
  const rows = [
    ['--port <port>', `SMPP, on loopback (${defaults.port})`],
    ['--page-port <port>', `The page and GET /texts, on loopback (${defaults.pagePort})`],
    ['--password <text>', 'The password that binds must have (any)'],
    ...switchNames.map((name) => {
      const isFlag = typeof switches[name].byDefault === 'boolean';
      const values = switches[name].choices === undefined ? '' : `: ${rightValue(switches[name])}`;
      const { byDefault: value } = switches[name];
      const written = name.endsWith('_status') ? `0x${Number(value).toString(16).padStart(2, '0')}` : value;
      const byDefault = isFlag ? '' : ` (${written})`;
      return [`${flagOf(name)}${isFlag ? '' : ' <value>'}`, `${switches[name].help}${values}${byDefault}`];
    }),
  ];
  const width = Math.max(...rows.map(([flag = '']) => flag.length)) + 2;
  return [
    'A virtual SMSC on loopback, to try a carrier without an account. It needs no database.',
    '',
    `Usage: ${toRun('smsc', '[options]')}`,
    '',
    ...rows.map(([flag = '', help = '']) => `  ${flag.padEnd(width)}${help}`),
    '',
    'Times may be written 500ms or 2s: --receipt-after 2s --slow 100ms.',
    'All but the ports and the password can be changed while it runs, on the page or by',
    `  curl -H 'Content-Type: application/json' -d '{"throttle_every": 3}' http://127.0.0.1:${defaults.pagePort}/faults`,
    '',
  ].join('\n');
}
