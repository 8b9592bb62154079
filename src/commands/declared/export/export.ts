import { listOwnedBy, listOwnersOf } from '../../../accounts/people/owner-store.ts';
import { readCarriers } from '../../../delivery/carrier/store.ts';
import type { RouteRule } from '../../../delivery/routing/table.ts';
import type { Hook } from '../../../hooks/hook.ts';
import { listHooksOf } from '../../../hooks/store.ts';
import type { OwnNumber } from '../../../inbound/own-number.ts';
import type { Clock } from '../../../platform/clock.ts';
import type { Database } from '../../../platform/database/database.ts';
import { isId } from '../../../platform/ids.ts';
import { type DeclaredApplication, type DeclaredTemplate, listAllDeclared } from '../../../registry/declared-store.ts';
import type { Sender } from '../../../registry/sender.ts';
import { listWebhooksOf } from '../../../webhooks/store.ts';
import type { Webhook } from '../../../webhooks/webhook.ts';
import type { CarrierCommandParts } from '../../carrier-command-parts.ts';
import { listAllNumbers } from '../numbers.ts';
import { grouped } from '../planning.ts';
import { listApproved } from '../senders.ts';
import { createServices, type Services } from '../services.ts';
import { type ExportForm, exportCarrier } from './carrier.ts';

/** How an export names an application: by name where that is clear. */
type NamedBy = (id: string) => { application: string } | { application_id: string };

const byId: NamedBy = (id) => ({ application_id: id });

function readOnlyServices(parts: CarrierCommandParts): Services {
  return createServices(parts, parts.database, {
    change: () => Promise.reject(new Error('an export changes nothing')),
    isCarrier: async () => true,
  });
}

/** What `npm run carriers -- export` writes. */
export async function exportCarriers(parts: CarrierCommandParts): Promise<object> {
  return exportDelivery(readOnlyServices(parts), parts.database, byId, { secretPlaces: true });
}

/** Everything that a file can declare, without secrets. Applied again it changes nothing. */
export async function exportAll(parts: CarrierCommandParts): Promise<object> {
  const { database, clock } = parts;
  const services = readOnlyServices(parts);
  const applications = await readAllApplications(database, clock);
  const namesakes = grouped(applications, ({ name }) => name);
  const known = new Map(applications.map((each) => [each.id, each]));
  const namedBy: NamedBy = (id) => {
    const name = known.get(id)?.name;
    // A name may look like the id of another application.
    const isClear = name !== undefined && namesakes.get(name)?.length === 1 && !isId('app', name);
    return isClear ? { application: name } : { application_id: id };
  };
  const { carriers, ...others } = await exportDelivery(services, database, namedBy, { secretPlaces: false });
  const { rules } = await services.guard.read();
  return {
    ...(Object.keys(rules).length > 0 && { guard: rules }),
    plans: (await services.plans.list())
      .filter(({ version }) => version > 0)
      .map(({ plan, perMinute, burst, segmentsPerDay }) => ({
        ...{ plan, per_minute: perMinute, burst, segments_per_day: segmentsPerDay },
      })),
    carriers,
    applications: await exportApplications(applications, database),
    ...others,
  };
}

async function exportDelivery(services: Services, database: Database, namedBy: NamedBy, form: ExportForm) {
  const { routes } = await services.routes.read();
  return {
    carriers: (await readCarriers(database)).map((row) => exportCarrier(row, form)),
    routes: routes.map((rule) => exportRoute(rule, namedBy)),
    senders: (await listApproved(services.senders)).map((sender) => exportSender(sender, namedBy)),
    numbers: (await listAllNumbers(services.numbers)).map((number) => exportNumber(number, namedBy)),
  };
}

const pageSize = 500;

async function readAllApplications(database: Database, clock: Clock): Promise<DeclaredApplication[]> {
  const all: DeclaredApplication[] = [];
  for (let after: string | undefined; ; ) {
    const page = await listAllDeclared(database, { limit: pageSize, after }, clock.nowMs());
    all.push(...page);
    if (page.length < pageSize) return all;
    after = page.at(-1)?.id;
  }
}

async function exportApplications(applications: DeclaredApplication[], database: Database): Promise<object[]> {
  const ids = applications.map(({ id }) => id);
  const accounts = await nameAccounts([...new Set(applications.map(({ accountId }) => accountId))], database);
  const webhooks = grouped(ids.length === 0 ? [] : await listWebhooksOf(database, ids), (row) => row.applicationId);
  const hooks = grouped(ids.length === 0 ? [] : await listHooksOf(database, ids), (row) => row.applicationId);
  const namesakes = grouped(applications, ({ accountId, name }) => `${accountId} ${name}`);
  return applications.map((application) => {
    const { id, accountId, name, helpText, assurance, highPriority, segmentsPerDay } = application;
    const { callCountries, registrations, templates } = application;
    const approved = registrations.filter(({ status }) => status === 'approved');
    return {
      ...((namesakes.get(`${accountId} ${name}`)?.length ?? 0) > 1 && { id }),
      account: accounts.get(accountId) ?? accountId,
      name,
      ...(helpText !== null && { help_text: helpText }),
      ...(assurance !== null && { assurance }),
      ...(highPriority && { high_priority: true }),
      ...(segmentsPerDay !== null && { segments_per_day: segmentsPerDay }),
      ...(callCountries.length > 0 && { call_countries: callCountries }),
      registrations: approved.map(({ api, plan }) => ({ api, plan })),
      ...(templates.length > 0 && { templates: templates.map(exportTemplate) }),
      ...(webhooks.has(id) && { webhooks: webhooks.get(id)?.map(exportWebhook) }),
      ...(hooks.has(id) && { hooks: hooks.get(id)?.map(exportHook) }),
    };
  });
}

/** An owner's email if that owner has no other account. */
async function nameAccounts(accountIds: string[], database: Database): Promise<Map<string, string>> {
  const owners = await listOwnersOf(database, accountIds);
  const owned = grouped(
    await listOwnedBy(
      database,
      owners.map(({ email }) => email),
    ),
    ({ email }) => email,
  );
  return new Map(
    owners.filter(({ email }) => owned.get(email)?.length === 1).map(({ accountId, email }) => [accountId, email]),
  );
}

function exportTemplate({ country, text, templateId }: DeclaredTemplate): object {
  return { country, text, ...(templateId !== null && { template_id: templateId }) };
}

/** A file cannot declare the status `disabled`. */
function exportWebhook({ url, types, description, status }: Webhook): object {
  return {
    url,
    ...(types.length > 0 && { types }),
    ...(description !== null && { description }),
    ...(status !== 'disabled' && { status }),
  };
}

function exportHook({ kind, from, locale, pointers }: Hook): object {
  return {
    kind,
    ...(from !== null && { from }),
    ...(locale !== null && { locale }),
    ...(pointers !== null && { pointers }),
  };
}

/** A route without fields that have their default. */
function exportRoute(rule: RouteRule, namedBy: NamedBy): object {
  const { name, match, carriers, failover, failover_bulk, from, hours } = rule;
  const applications = (match.applications ?? []).map((id) => Object.values(namedBy(id))[0]);
  return {
    name,
    match: Object.fromEntries(Object.entries({ ...match, applications }).filter(([, list]) => list.length > 0)),
    carriers,
    ...(failover.length > 0 && { failover }),
    ...(failover_bulk !== false && { failover_bulk }),
    ...(from !== null && { from }),
    ...(hours !== null && { hours }),
  };
}

function exportSender(given: Sender, namedBy: NamedBy): object {
  const { sender, applicationId, countries, carriers, registration, perSecond } = given;
  return {
    sender,
    ...namedBy(applicationId),
    countries,
    ...(carriers.length > 0 && { carriers }),
    ...(registration !== null && { registration }),
    ...(perSecond !== null && { per_second: perSecond }),
  };
}

function exportNumber(given: OwnNumber, namedBy: NamedBy): object {
  const { number, applicationId, api, carrier, keyword, ignoredWords } = given;
  return {
    number,
    ...namedBy(applicationId),
    api,
    ...(carrier !== null && { carrier }),
    ...(keyword !== null && { keyword }),
    ...(ignoredWords.length > 0 && { ignored_words: ignoredWords }),
  };
}
