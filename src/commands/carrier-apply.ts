import { createAudit } from '../accounts/audit/audit.ts';
import { findCarrier, readCarriers } from '../delivery/carrier/store.ts';
import { hasAwaitedTexts } from '../delivery/receipts/awaited-texts.ts';
import { createRouteService } from '../delivery/routing/service.ts';
import { createCarrierService } from '../delivery/setup/service.ts';
import { createNumberService } from '../inbound/number-service.ts';
import { loadPhoneNumbers } from '../messages/numbers/phone-number.ts';
import { ApiError, StartError } from '../platform/errors.ts';
import { createLog } from '../platform/log.ts';
import { createRegistry } from '../registry/registry.ts';
import { isApplication } from '../registry/registry-store.ts';
import { planCarriers } from './apply-carriers.ts';
import { exportNumber, listAll, planNumbers } from './apply-numbers.ts';
import { exportRoute, planRoutes } from './apply-routes.ts';
import { exportSender, listApproved, planSenders } from './apply-senders.ts';
import type { ApplyStep, NoteOf } from './apply-step.ts';
import type { CarrierCommandParts } from './carrier-command-parts.ts';
import { exportCarrier, readCarrierFile } from './carrier-file.ts';

/** What the command needs of each domain. `stop` when it has ended. */
function openServices(parts: CarrierCommandParts, isCarrier: (name: string) => Promise<boolean>) {
  const { config, database } = parts;
  const { environment, publicUrl } = config;
  const log = createLog({ level: 'silent', readable: false });
  const { senders, feed } = createRegistry({ ...parts, log, listen: false });
  return {
    carriers: createCarrierService({ ...parts, environment, publicUrl, hasAwaitedTexts }),
    routes: createRouteService({ ...parts, environment }),
    senders,
    numbers: createNumberService({ ...parts, isApplication, change: feed.change, isCarrier }),
    isApplication: (id: string) => isApplication(database, id),
    stop: () => feed.stop(),
  };
}

/** `apply`: checks the whole file first, then makes the changes one by one and reports each. */
export async function applyFile(
  path: string,
  { dryRun, prune }: { dryRun: boolean; prune: boolean },
  parts: CarrierCommandParts,
): Promise<string> {
  await loadPhoneNumbers();
  const file = await readCarrierFile(path, parts.readEnv);
  const names = new Set(file.carriers.map(({ name }) => name));
  const isCarrier = async (name: string) => names.has(name) || (await findCarrier(parts.database, name)) !== undefined;
  const services = openServices(parts, isCarrier);
  try {
    const carriers = await planCarriers(file.carriers, services.carriers, parts.database);
    const routes = await planRoutes(file.routes, { service: services.routes, carriers: names });
    const senders = await planSenders(file.senders, { ...services, service: services.senders, isCarrier });
    const numbers = await planNumbers(file.numbers, { ...services, service: services.numbers });
    const plans = [carriers, routes, senders, numbers];
    const wrong = plans.flatMap((plan) => plan.wrong);
    if (wrong.length > 0) throw new StartError(`Nothing has been changed:\n${wrong.join('\n')}`);
    await run(
      plans.flatMap(({ steps }) => steps),
      dryRun,
      parts,
    );
    // Carriers go last: routes, senders and numbers may have named them.
    if (prune)
      await run(
        plans.toReversed().flatMap(({ others }) => others),
        dryRun,
        parts,
      );
  } finally {
    await services.stop();
  }
  return dryRun
    ? '\nThis was a dry run: nothing has been changed.\n'
    : '\nDone. Every node follows within 2 seconds.\n';
}

/** If a step is refused, because something changed meanwhile or is in use, the others still run. */
async function run(steps: ApplyStep[], dryRun: boolean, { clock, say }: CarrierCommandParts): Promise<void> {
  const audit = createAudit({ clock });
  const noteOf: NoteOf = (entry) => (tx) => audit.recordByMachine(tx, entry);
  const refused: string[] = [];
  for (const { line, act } of steps) {
    say(line);
    if (!dryRun) await act?.(noteOf).catch((error: unknown) => refused.push(refusalOf(error)));
  }
  if (refused.length > 0) throw new StartError(refused.join('\n'));
}

function refusalOf(error: unknown): string {
  if (error instanceof ApiError) return error.message;
  throw error;
}

/** `export`: everything that `apply` reads, with places for secrets. */
export async function exportAll(parts: CarrierCommandParts): Promise<string> {
  const services = openServices(parts, async () => true);
  try {
    const carriers = (await readCarriers(parts.database)).map(exportCarrier);
    const routes = (await services.routes.read()).routes.map(exportRoute);
    const senders = (await listApproved(services.senders)).map(exportSender);
    const numbers = (await listAll(services.numbers)).map(exportNumber);
    return JSON.stringify({ carriers, routes, senders, numbers }, null, 2);
  } finally {
    await services.stop();
  }
}
