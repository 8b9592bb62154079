import { loadPhoneNumbers } from '../messages/numbers/phone-number.ts';
import { StartError } from '../platform/errors.ts';
import type { CarrierCommandParts } from './carrier-command-parts.ts';
import { applyPlan } from './declared/apply.ts';
import { withPlanning } from './declared/declared-commands.ts';
import { exportCarriers } from './declared/export/export.ts';
import { readDeclaredFile } from './declared/file.ts';
import { planFile } from './declared/plan-file.ts';
import { createProblems } from './declared/problems.ts';
import { showLines } from './declared/show.ts';

/** `npm run carriers -- export`: carriers, routes, senders and numbers, with variables in place of secrets. */
export async function applyFile(
  path: string,
  { dryRun, prune }: { dryRun: boolean; prune: boolean },
  parts: CarrierCommandParts,
): Promise<string> {
  await loadPhoneNumbers();
  const problems = createProblems();
  const file = await readDeclaredFile(path, problems);
  const planned = withPlanning(parts, { prune, makesCredentials: false, literalSecrets: true }, problems);
  const seen = await planFile(file, planned, parts.database, () => Promise.reject(new Error('not yet')));
  for (const line of showLines(seen)) parts.say(line);
  if (dryRun) return '\nThis was a dry run: nothing has been changed.\n';
  if (seen.unseen.length > 0)
    throw new StartError(
      `Nothing has been changed. Use the command apply with --credentials: ${seen.unseen.join(', ')}.`,
    );
  const { outcome } = await applyPlan(file, seen, planned, undefined);
  if (outcome === 'changed_meanwhile')
    throw new StartError(
      'Nothing has been changed: another change came first. Run the command again to see the difference.',
    );
  return '\nDone. Every node follows within 2 seconds.\n';
}

/** `npm run carriers -- export`: carriers, routes, senders and numbers, with places for secrets. */
export async function exportFile(parts: CarrierCommandParts): Promise<string> {
  return JSON.stringify(await exportCarriers(parts), null, 2);
}
