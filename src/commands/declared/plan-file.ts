import { readCarriers } from '../../delivery/carrier/store.ts';
import type { Database } from '../../platform/database/database.ts';
import { isId } from '../../platform/ids.ts';
import { isObject } from '../../platform/is-object.ts';
import type { ChangeFeed } from '../../registry/change-feed.ts';
import { readNames } from '../../registry/registry-store.ts';
import type { WebhookService } from '../../webhooks/service.ts';
import type { CarrierCommandParts } from '../carrier-command-parts.ts';
import { planApplications } from './applications.ts';
import { planCarriers, readDeclaredCarriers } from './carriers.ts';
import type { Entry } from './change.ts';
import type { DeclaredFile } from './file.ts';
import { findApplications } from './find-applications.ts';
import { planGuard } from './guard.ts';
import { planHooks } from './hooks.ts';
import { createKnownApplications, type KnownApplications } from './known-applications.ts';
import { planNumbers } from './numbers.ts';
import type { Memory, Planning, PlanOptions } from './planning.ts';
import { planPlans } from './plans.ts';
import { createProblems, type Problems } from './problems.ts';
import { planCredentials, planRegistrations } from './registrations.ts';
import { planRoutes } from './routes.ts';
import { planSenders } from './senders.ts';
import { createServices } from './services.ts';
import { planTemplates } from './templates.ts';
import { planWebhooks } from './webhooks.ts';

/** The changes that a file asks for, in an order in which they can be made. */
export interface DeclaredPlan {
  /** Made in one transaction. */
  together: Entry[];
  /** Each made in a transaction of its own, afterwards. */
  oneByOne: Entry[];
  /** Paths of new objects whose secret will be made, because the file does not name one. */
  unseen: string[];
}

export interface PlanParts extends CarrierCommandParts {
  /** What was wrong with the file before it was compared. */
  fileProblems: Problems;
  options: PlanOptions;
  memory: Memory;
  webhooks: WebhookService;
}

const none: KnownApplications = { resolve: (written) => written, labelOf: (id) => id };

/** Compares a file with the store. Throws one error that names all that is wrong with the file. */
export async function planFile(
  file: DeclaredFile,
  parts: PlanParts,
  database: Database,
  change: ChangeFeed['change'],
): Promise<DeclaredPlan> {
  const { lists } = file;
  const carriers = new Set((await readCarriers(database)).map(({ name }) => name));
  const services = createServices(parts, database, { change, isCarrier: async (name) => carriers.has(name) });
  const problems = createProblems();
  problems.addAll('', parts.fileProblems.all);
  const planning: Planning = { ...parts, tx: database, services, problems, carriers, applications: none, unseen: [] };

  const written = readDeclaredCarriers(lists.carriers ?? [], planning);
  for (const { value } of written) carriers.add(value.name);
  const found = await findApplications(lists.applications ?? [], planning);
  const declared = found.applications.map(({ id, written: { name } }) => ({ id, name }));
  planning.applications = createKnownApplications(declared, await readNames(database, idsNamedIn(lists)));

  const sections = {
    guard: await planGuard(file.guard, planning),
    plans: await planPlans(lists.plans, planning),
    carriers: lists.carriers === undefined ? { entries: [], unnamed: [] } : await planCarriers(written, planning),
    applications: planApplications(found, planning),
    registrations: planRegistrations(found.applications, planning),
    templates: planTemplates(found.applications, planning),
    hooks: await planHooks(found.applications, planning),
    routes: await planRoutes(lists.routes, planning),
    senders: await planSenders(lists.senders, planning),
    numbers: await planNumbers(lists.numbers, planning),
  };
  const webhooks = await planWebhooks(found.applications, planning);
  problems.throwIfAny();
  const all = Object.values(sections);
  const { prune } = parts.options;
  return {
    together: [
      ...all.flatMap(({ entries }) => entries),
      ...planCredentials(found.applications, planning),
      // Delete in reverse order: objects that others may name come last.
      ...(prune ? all.toReversed().flatMap(({ unnamed }) => unnamed) : []),
    ],
    oneByOne: [...webhooks.entries, ...(prune ? webhooks.unnamed : [])],
    unseen: planning.unseen,
  };
}

/** The ids of applications in these lists of a file, which nothing has checked yet. */
function idsNamedIn({ senders = [], numbers = [], routes = [] }: DeclaredFile['lists']): string[] {
  const owners = [...senders, ...numbers].map((entry) => (isObject(entry) ? entry.application_id : undefined));
  const matched = routes.flatMap((route) =>
    isObject(route) && isObject(route.match) && Array.isArray(route.match.applications) ? route.match.applications : [],
  );
  return [...new Set([...owners, ...matched].filter((id): id is string => typeof id === 'string' && isId('app', id)))];
}

export function isDifferent({ together, oneByOne }: DeclaredPlan): boolean {
  return [...together, ...oneByOne].some(({ action }) => action !== 'same');
}
