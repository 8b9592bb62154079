import { createAudit } from '../accounts/audit/audit.ts';
import { hasAwaitedTexts } from '../delivery/receipts/awaited-texts.ts';
import { createCarrierService } from '../delivery/setup/service.ts';
import { type CarrierTestService, createCarrierTestService } from '../delivery/setup/test-service.ts';
import { readNumber } from '../messages/numbers/phone-number.ts';
import type { Note } from '../platform/database/database.ts';
import { ApiError, StartError } from '../platform/errors.ts';
import { toRun } from '../platform/how-to-run.ts';
import { applyFile, exportFile } from './carrier-apply.ts';
import type { CarrierCommandParts } from './carrier-command-parts.ts';
import { showStatus } from './carrier-status.ts';
import { explainRoute } from './explain-command.ts';

const forms = [
  'status',
  'apply <file.json> [--dry-run] [--prune]',
  'export',
  'test <name> <number>',
  'try <name>',
  'routes explain <number or message id> [--from=ACME] [--api=verify] [--application=app_…]',
];

/** `npm run carriers`: changes carriers from files. A running service applies the change at once. */
export function runCarrierCommand([act, ...args]: string[], parts: CarrierCommandParts): Promise<string> {
  if (act === 'routes' && args[0] === 'explain') return explainRoute(args.slice(1), parts);
  const flags = args.filter((arg) => arg.startsWith('--'));
  const [first, second, ...more] = args.filter((arg) => !arg.startsWith('--'));
  const isPlain = flags.length === 0 && more.length === 0;
  if (act === 'status' && isPlain && first === undefined) return showStatus(parts);
  if (act === 'export' && isPlain && first === undefined) return exportFile(parts);
  if (act === 'test' && isPlain && first !== undefined && second !== undefined) return test(first, second, parts);
  if (act === 'try' && isPlain && first !== undefined && second === undefined) return tryNow(first, parts);
  if (act === 'apply' && first !== undefined && second === undefined && flags.every(isApplyFlag)) {
    return applyFile(first, { dryRun: flags.includes('--dry-run'), prune: flags.includes('--prune') }, parts);
  }
  throw new StartError(['Run one of:', ...forms.map((form) => `  ${toRun('carriers', form)}`)].join('\n'));
}

function isApplyFlag(flag: string): boolean {
  return flag === '--dry-run' || flag === '--prune';
}

const pollEveryMs = 200;

async function test(name: string, written: string, parts: CarrierCommandParts): Promise<string> {
  const to = readNumber(written);
  if (to === undefined) throw new StartError('Give the number with its country code, like +447700900123.');
  const tests = createCarrierTestService(parts);
  const text = { to, from: 'Heliograph', message: 'This text tests a carrier of Heliograph.' };
  const note: Note = (tx) => createAudit(parts).recordByMachine(tx, { act: 'carrier.tested', id: name });
  const id = await tests.start(name, text, note).catch(noSuchCarrier(name));
  parts.say(`The running service sends one text to ${to} through ${name}, and waits up to 120 s for its receipt.`);
  return follow(name, id, tests, parts.say);
}

function noSuchCarrier(name: string): (error: unknown) => never {
  return (error) => {
    throw error instanceof ApiError && error.status === 404 ? new StartError(`There is no carrier ${name}.`) : error;
  };
}

async function tryNow(name: string, parts: CarrierCommandParts): Promise<string> {
  const { environment, publicUrl } = parts.config;
  const carriers = createCarrierService({ ...parts, environment, publicUrl, hasAwaitedTexts });
  const note: Note = (tx) => createAudit(parts).recordByMachine(tx, { act: 'carrier.tried', id: name });
  await carriers.tryNow(name, note).catch(noSuchCarrier(name));
  return `The running service connects ${name} now. ${toRun('carriers', 'status')} shows how that went.\n`;
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
    await new Promise((done) => setTimeout(done, pollEveryMs));
  }
}
