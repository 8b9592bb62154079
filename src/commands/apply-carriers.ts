import { findCarrier, readCarriers } from '../delivery/carrier/store.ts';
import { keepCarrierSecrets } from '../delivery/setup/kinds.ts';
import { secretsToGiveAgain } from '../delivery/setup/secret-destination.ts';
import type { CarrierService } from '../delivery/setup/service.ts';
import type { Database } from '../platform/database/database.ts';
import { type ApplyPlan, type ApplyStep, sayWrong } from './apply-step.ts';
import { differences, type WrittenCarrier } from './carrier-file.ts';

/** Carriers of a file are made or changed. Secrets that it does not name stay. */
export async function planCarriers(
  written: readonly WrittenCarrier[],
  service: CarrierService,
  database: Database,
): Promise<ApplyPlan> {
  const wrong: string[] = [];
  const steps: ApplyStep[] = [];
  for (const carrier of written) {
    const row = await findCarrier(database, carrier.name);
    const before = row && service.readAll(row);
    const given = before === undefined ? carrier.settings : keepCarrierSecrets(carrier.settings, before);
    const { carrier: after, problems } = await service.check({ ...carrier, settings: given });
    if (before !== undefined && before.kind !== carrier.kind)
      problems.push({ field: 'kind', message: `must be ${before.kind}: a carrier keeps its kind. Use another name.` });
    if (before !== undefined && problems.length === 0)
      problems.push(...secretsToGiveAgain(before, carrier.settings, after));
    wrong.push(...sayWrong(carrier.name, problems));
    if (problems.length > 0) continue;
    const changes = before && differences(before, after);
    const line = `${carrier.name}: ${describe(changes)}`;
    const { name, kind } = carrier;
    if (changes === undefined)
      steps.push({
        line,
        act: (noteOf) => service.create(carrier, noteOf({ act: 'carrier.created', id: name, details: { kind } })),
      });
    else if (changes.length === 0) steps.push({ line });
    else
      steps.push({
        line,
        act: (noteOf) => service.replace(name, carrier.settings, noteOf({ act: 'carrier.changed', id: name })),
      });
  }
  const names = new Set(written.map(({ name }) => name));
  const others = (await readCarriers(database)).filter(({ name }) => !names.has(name));
  return {
    wrong,
    steps,
    others: others.map(({ name }) => ({
      line: `${name}: deleted`,
      act: (noteOf) => service.remove(name, { force: false }, noteOf({ act: 'carrier.deleted', id: name })),
    })),
  };
}

function describe(changes: string[] | undefined): string {
  if (changes === undefined) return 'new';
  return changes.length === 0 ? 'unchanged' : changes.join(', ');
}
