import { open, rename, unlink } from 'node:fs/promises';
import { loadPhoneNumbers } from '../../messages/numbers/phone-number.ts';
import { StartError } from '../../platform/errors.ts';
import { toRun } from '../../platform/how-to-run.ts';
import type { CarrierCommandParts } from '../carrier-command-parts.ts';
import { applyPlan } from './apply.ts';
import { createCredentialsFile } from './credentials-file.ts';
import { exportAll } from './export/export.ts';
import { type DeclaredFile, readDeclaredFile } from './file.ts';
import { type DeclaredPlan, isDifferent, type PlanParts, planFile } from './plan-file.ts';
import { createMemory, type PlanOptions } from './planning.ts';
import { createProblems, FileError } from './problems.ts';
import { createWebhooks } from './services.ts';
import { planAsJson, showPlan } from './show.ts';

export interface DeclaredCommandParts extends CarrierCommandParts {
  /** Ends the process with this code when the command has ended. */
  exitWith: (code: number) => void;
  /** Whether a person reads the output. */
  colour: boolean;
}

export const declaredCommands = ['plan', 'apply', 'export'];
/** The exit code if file and store differ. */
const different = 2;

/** `plan`, `apply` and `export`: the configuration of the service in one file. */
export async function runDeclaredCommand(
  command: string,
  args: string[],
  parts: DeclaredCommandParts,
): Promise<string> {
  switch (command) {
    case 'plan':
      return asked(plan, readArguments(command, args, ['--prune', '--json']), parts);
    case 'apply':
      return asked(apply, readArguments(command, args, ['--prune', '--json', '--credentials']), parts);
    default:
      return writeExport(readArguments(command, args, ['--replace']), parts);
  }
}

interface Arguments {
  path: string | undefined;
  flags: ReadonlySet<string>;
  credentials: string | undefined;
}

const forms: Record<string, string> = {
  plan: '<file.json> [--prune] [--json]',
  apply: '<file.json> [--prune] [--credentials <new file>] [--json]',
  export: '[file.json] [--replace]',
};

function readArguments(command: string, args: string[], known: readonly string[]): Arguments {
  const flags = new Set<string>();
  const paths: string[] = [];
  let credentials: string | undefined;
  const wrong = (problem: string) => new StartError(`${problem} Run: ${toRun(command, forms[command])}`);
  for (let at = 0; at < args.length; at++) {
    const arg = args[at] ?? '';
    const [flag = '', value] = arg.startsWith('--') ? arg.split(/=(.*)/s) : [];
    if (flag === '') paths.push(arg);
    else if (!known.includes(flag)) throw wrong(`${flag} is not known here.`);
    else if (flag !== '--credentials') flags.add(flag);
    else {
      credentials = value ?? args[++at];
      if (credentials === undefined || credentials === '' || credentials.startsWith('--'))
        throw wrong('--credentials needs the name of a new file.');
    }
  }
  if (paths.length > 1) throw wrong('Give one file.');
  if (paths.length === 0 && command !== 'export') throw wrong('Give the file.');
  return { path: paths[0], flags, credentials };
}

type Act = (file: DeclaredFile, args: Arguments, parts: DeclaredCommandParts & PlanParts) => Promise<string>;

/** With --json, problems of the file are JSON too. */
async function asked(act: Act, args: Arguments, parts: DeclaredCommandParts): Promise<string> {
  await loadPhoneNumbers();
  try {
    const problems = createProblems();
    const file = await readDeclaredFile(args.path ?? '', problems);
    const options = {
      ...{ prune: args.flags.has('--prune'), makesCredentials: args.credentials !== undefined, literalSecrets: false },
    };
    return await act(file, args, withPlanning(parts, options, problems));
  } catch (error) {
    if (!(error instanceof FileError) || !args.flags.has('--json')) throw error;
    parts.exitWith(1);
    return JSON.stringify({ problems: error.problems }, null, 2);
  }
}

export function withPlanning<Parts extends CarrierCommandParts>(
  parts: Parts,
  options: PlanOptions,
  fileProblems: PlanParts['fileProblems'],
): Parts & PlanParts {
  return { ...parts, options, memory: createMemory(), webhooks: createWebhooks(parts), fileProblems };
}

/** Stands in for the change feed where files are only compared. */
const changesNothing = () => Promise.reject(new Error('a plan changes nothing'));

async function plan(
  file: DeclaredFile,
  { flags }: Arguments,
  parts: DeclaredCommandParts & PlanParts,
): Promise<string> {
  const found = await planFile(file, parts, parts.database, changesNothing);
  if (isDifferent(found)) parts.exitWith(different);
  if (flags.has('--json')) return JSON.stringify({ ...planAsJson(found), needs_credentials: found.unseen }, null, 2);
  const hint = found.unseen.length === 0 ? [] : ['', sayUnseen(found)];
  return [showPlan(found, parts.colour), ...hint].join('\n');
}

function sayUnseen({ unseen }: DeclaredPlan): string {
  return `New secrets are needed for ${unseen.join(', ')}. Apply with --credentials <new file> to get them; a webhook may name a "secret" of yours instead.`;
}

async function apply(file: DeclaredFile, args: Arguments, parts: DeclaredCommandParts & PlanParts): Promise<string> {
  const isJson = args.flags.has('--json');
  const seen = await planFile(file, parts, parts.database, changesNothing);
  if (!isJson) parts.say(showPlan(seen, parts.colour));
  const answer = (outcome: string, plan: DeclaredPlan, text: string, credentials = 0) =>
    isJson ? JSON.stringify({ outcome, ...planAsJson(plan), credentials }, null, 2) : text;
  if (!isDifferent(seen)) return answer('unchanged', seen, '');
  if (seen.unseen.length > 0 && args.credentials === undefined)
    throw new StartError(`Nothing has been changed. ${sayUnseen(seen)}`);
  const credentials = args.credentials === undefined ? undefined : await createCredentialsFile(args.credentials);
  let made = 0;
  try {
    const applied = await applyPlan(file, seen, parts, credentials);
    if (applied.outcome === 'changed_meanwhile') return meanwhile(applied.plan, answer, parts);
  } finally {
    made = (await credentials?.close()) ?? 0;
  }
  const where =
    made === 0
      ? args.credentials === undefined
        ? ''
        : `\nNo credential was missing, so the file ${args.credentials} was not written.`
      : `\n${args.credentials} has ${made} new ${made === 1 ? 'credential' : 'credentials'}. Only you may read it; they are shown nowhere else.`;
  return answer('applied', seen, `\nApplied. Every node follows within 2 seconds.${where}\n`, made);
}

/** Another change was made first, so nothing was applied: shows the difference as it is now. */
function meanwhile(
  plan: DeclaredPlan,
  answer: (outcome: string, plan: DeclaredPlan, text: string) => string,
  parts: DeclaredCommandParts,
): string {
  if (!isDifferent(plan)) return answer('unchanged', plan, '\nAnother apply has made these changes meanwhile.\n');
  parts.exitWith(different);
  const text = `\nThe store was changed meanwhile, so nothing has been applied. The difference is now:\n\n${showPlan(plan, parts.colour)}\n`;
  return answer('changed_meanwhile', plan, text);
}

async function writeExport({ path, flags }: Arguments, parts: DeclaredCommandParts): Promise<string> {
  const text = JSON.stringify(await exportAll(parts), null, 2);
  if (path === undefined) return text;
  // Written to a new file and renamed, so that a crash leaves no half of a file.
  const fresh = flags.has('--replace') ? `${path}.${process.pid}.new` : path;
  const file = await open(fresh, 'wx').catch((error: NodeJS.ErrnoException) => {
    throw new StartError(
      error.code === 'EEXIST'
        ? `The file ${path} exists already. --replace writes it anew.`
        : `The file ${path} cannot be written (${error.code}).`,
    );
  });
  try {
    await file.writeFile(`${text}\n`);
    await file.sync();
  } finally {
    await file.close();
  }
  if (fresh !== path)
    await rename(fresh, path).catch((error: unknown) => unlink(fresh).then(() => Promise.reject(error)));
  return `${path} has everything but secrets.`;
}
