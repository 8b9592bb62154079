import { differences, exportCarrier, readCarrierFile, type WrittenCarrier } from './carrier-file.ts';
import { showStatus } from './carrier-status.ts';
import { keepCarrierSecrets } from './delivery/carrier-kinds.ts';
import { type CarrierService, createCarrierService } from './delivery/carrier-service.ts';
import { findCarrier, readCarriers } from './delivery/carrier-store.ts';
import { type CarrierTestService, createCarrierTestService } from './delivery/carrier-test-service.ts';
import { readNumber } from './messages/phone-number.ts';
import type { Clock } from './platform/clock.ts';
import type { Config } from './platform/config.ts';
import type { Database } from './platform/database.ts';
import { ApiError, StartError } from './platform/errors.ts';
import type { KeyRing } from './platform/keys.ts';

export interface CarrierCommandParts {
  config: Config;
  clock: Clock;
  database: Database;
  keys: KeyRing;
  say: (text: string) => void;
  readEnv: (name: string) => string | undefined;
}

const usage = [
  'Say one of:',
  '  npm run carriers -- status',
  '  npm run carriers -- apply <file.json> [--dry-run] [--prune]',
  '  npm run carriers -- export',
  '  npm run carriers -- test <name> <number>',
].join('\n');

/** `npm run carriers`: what operators do by files and on the machine. A running service follows at once. */
export function runCarrierCommand([act, ...args]: string[], parts: CarrierCommandParts): Promise<string> {
  const flags = args.filter((arg) => arg.startsWith('--'));
  const [first, second, ...more] = args.filter((arg) => !arg.startsWith('--'));
  const isPlain = flags.length === 0 && more.length === 0;
  if (act === 'status' && isPlain && first === undefined) return showStatus(parts);
  if (act === 'export' && isPlain && first === undefined) return exportAll(parts);
  if (act === 'test' && isPlain && first !== undefined && second !== undefined) return test(first, second, parts);
  if (act === 'apply' && first !== undefined && second === undefined && flags.every(isApplyFlag)) {
    return apply(first, { dryRun: flags.includes('--dry-run'), prune: flags.includes('--prune') }, parts);
  }
  throw new StartError(usage);
}

function isApplyFlag(flag: string): boolean {
  return flag === '--dry-run' || flag === '--prune';
}

async function exportAll({ database }: CarrierCommandParts): Promise<string> {
  const rows = await readCarriers(database);
  return JSON.stringify({ carriers: rows.map(exportCarrier) }, null, 2);
}

interface Plan {
  carrier: WrittenCarrier;
  /** Undefined for a new carrier. */
  changes: string[] | undefined;
}

async function apply(
  path: string,
  { dryRun, prune }: { dryRun: boolean; prune: boolean },
  parts: CarrierCommandParts,
): Promise<string> {
  const { config, database, say } = parts;
  const service = createCarrierService({
    ...parts,
    environment: config.environment,
    publicUrl: config.publicUrl,
  });
  const written = await readCarrierFile(path, parts.readEnv);
  const plans = await planAll(written, service, parts);
  const names = new Set(written.map(({ name }) => name));
  const others = prune ? (await readCarriers(database)).filter(({ name }) => !names.has(name)) : [];
  for (const { carrier, changes } of plans) {
    say(`${carrier.name}: ${describePlan(changes)}`);
    if (dryRun) continue;
    if (changes === undefined) await service.create(carrier);
    else if (changes.length > 0) await service.replace(carrier.name, carrier.settings);
  }
  const kept: string[] = [];
  for (const { name } of others) {
    say(`${name}: deleted`);
    if (!dryRun) await service.remove(name, { force: false }).catch((error) => kept.push(refusalOf(error)));
  }
  if (kept.length > 0) throw new StartError(kept.join('\n'));
  return dryRun
    ? '\nThis was a dry run: nothing has been changed.\n'
    : '\nDone. Every node follows within 2 seconds.\n';
}

function describePlan(changes: string[] | undefined): string {
  if (changes === undefined) return 'new';
  return changes.length === 0 ? 'unchanged' : changes.join(', ');
}

function refusalOf(error: unknown): string {
  if (error instanceof ApiError) return error.message;
  throw error;
}

/** Checks every carrier before the first one is changed, and names all that is wrong. */
async function planAll(
  written: WrittenCarrier[],
  service: CarrierService,
  { database }: CarrierCommandParts,
): Promise<Plan[]> {
  const plans: Plan[] = [];
  const wrong: string[] = [];
  for (const carrier of written) {
    const row = await findCarrier(database, carrier.name);
    const before = row && service.readAll(row);
    const given = before === undefined ? carrier.settings : keepCarrierSecrets(carrier.settings, before);
    const { carrier: after, problems } = await service.check({ ...carrier, settings: given });
    if (before !== undefined && before.kind !== carrier.kind)
      problems.push({ field: 'kind', message: `must be ${before.kind}: a carrier keeps its kind. Use another name.` });
    wrong.push(...problems.map(({ field, message }) => `${carrier.name}: ${field} ${message}`));
    if (problems.length === 0) plans.push({ carrier, changes: before && differences(before, after) });
  }
  if (wrong.length > 0) throw new StartError(`Nothing has been changed:\n${wrong.join('\n')}`);
  return plans;
}

const lookEveryMs = 200;

async function test(name: string, written: string, parts: CarrierCommandParts): Promise<string> {
  const to = readNumber(written);
  if (to === undefined) throw new StartError('Give the number with its country code, like +447700900123.');
  const tests = createCarrierTestService(parts);
  const text = { to, from: 'Heliograph', message: 'This text tests a carrier of Heliograph.' };
  const id = await tests.start(name, text).catch((error: unknown) => {
    throw error instanceof ApiError && error.status === 404 ? new StartError(`There is no carrier ${name}.`) : error;
  });
  parts.say(`The running service sends one text to ${to} through ${name}, and waits up to 120 s for its receipt.`);
  return follow(name, id, tests, parts.say);
}

/** Shows each step as a worker writes it. */
async function follow(name: string, id: string, tests: CarrierTestService, say: (text: string) => void) {
  for (let shown = 0; ; ) {
    const { status, steps, error } = await tests.require(name, id);
    for (const { step, ok, detail, tookMs } of steps.slice(shown)) {
      say(`${ok ? 'ok    ' : 'failed'}  ${step.padEnd(10)}  ${detail} (${Math.round(tookMs)} ms)`);
    }
    shown = steps.length;
    if (status === 'passed') return '\nThe carrier works.\n';
    if (status === 'failed') throw new StartError(error ?? 'The test failed.');
    await new Promise((done) => setTimeout(done, lookEveryMs));
  }
}
