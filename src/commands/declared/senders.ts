import { type Static, Type } from 'typebox';
import { checkSender, senderApproval, senderBody } from '../../portal/developer/sender-record.ts';
import { findAccountOf } from '../../registry/registry-store.ts';
import type { Approval, Sender } from '../../registry/sender.ts';
import { isSameWish, type SenderService } from '../../registry/sender-service.ts';
import { listSendersOf } from '../../registry/sender-store.ts';
import { changedEntry, differing, type Entry, nothingPlanned, type SectionPlan, shownFields } from './change.ts';
import { type Read, readAllEntries } from './entry.ts';
import { applicationOf, namedApplication } from './named-application.ts';
import { grouped, nameRepeated, type Planning } from './planning.ts';

const senderSchema = Type.Object(
  {
    ...namedApplication,
    ...senderBody.properties,
    ...Type.Partial(Type.Object(senderApproval)).properties,
  },
  { check: checkSender },
);
type WrittenSender = Static<typeof senderSchema>;
type OwnedSender = WrittenSender & { applicationId: string };

/** Senders of a file are approved as it says. What it does not say of one stays. */
export async function planSenders(list: unknown[] | undefined, planning: Planning): Promise<SectionPlan> {
  if (list === undefined) return nothingPlanned;
  const { problems, carriers: known, tx } = planning;
  const read = readAllEntries<WrittenSender>(list, 'senders', senderSchema, problems);
  const senders = read.flatMap(({ path, value, fit }): Read<OwnedSender>[] => {
    for (const [index, name] of (Array.isArray(value.carriers) ? value.carriers : []).entries())
      if (!known.has(name)) problems.add(`${path}.carriers.${index}`, 'must be the name of an existing carrier');
    const applicationId = applicationOf(value, path, planning);
    return applicationId === undefined || fit === undefined ? [] : [{ path, value: { ...fit, applicationId } }];
  });
  const nameOf = (sender: Pick<Sender, 'sender' | 'countries' | 'applicationId'>) => shownName(sender, planning);
  nameRepeated(
    senders.map(({ path, value }) => ({ path, name: nameOf(value) })),
    problems,
  );
  const ids = [...new Set(senders.map(({ value }) => value.applicationId))];
  const stored = ids.length === 0 ? [] : await listSendersOf(tx, ids);
  const keyOf = ({ sender, applicationId }: { sender: string; applicationId: string }) => `${applicationId} ${sender}`;
  const byKey = grouped(stored, keyOf);
  const { senders: service } = planning.services;
  const entries = senders.map(({ value }) =>
    planOne(
      value,
      nameOf(value),
      byKey.get(keyOf(value))?.find((other) => isSameWish(other, value)),
      service,
    ),
  );
  if (!planning.options.prune) return { entries, unnamed: [] };
  const named = new Map(senders.map(({ value }) => [nameOf(value), true]));
  const others = (await listApproved(service)).filter((sender) => !named.has(nameOf(sender)));
  return { entries, unnamed: others.map((sender) => removal(sender, nameOf(sender), service)) };
}

function planOne(written: OwnedSender, name: string, before: Sender | undefined, service: SenderService): Entry {
  const { applicationId, sender, countries, carriers, registration, per_second: perSecond } = written;
  const approval: Approval = {
    carriers: carriers ?? before?.carriers ?? [],
    registration: registration === undefined ? (before?.registration ?? null) : registration,
    perSecond: perSecond === undefined ? (before?.perSecond ?? null) : perSecond,
  };
  const act: Entry['act'] = ({ noteOf }) =>
    service.give(applicationId, { sender, countries }, approval, async (tx, { id }) => {
      const accountId = await findAccountOf(tx, applicationId);
      const details = { sender, application_id: applicationId };
      await noteOf({ act: 'sender.approved', id, accountId, details })(tx, undefined);
    });
  const shown = toShown({ ...approval, status: 'approved' });
  const kind = 'sender';
  if (before === undefined)
    return { action: 'create', kind, name, fields: shownFields({ ...shown, status: undefined }), act };
  return changedEntry({ kind, name, fields: differing(toShown(before), shown) }, act);
}

function toShown({ status, carriers, registration, perSecond }: Approval & Pick<Sender, 'status'>) {
  return { status, carriers, registration, per_second: perSecond };
}

function removal({ applicationId, id }: Sender, name: string, service: SenderService): Entry {
  return {
    ...{ action: 'delete', kind: 'sender', name, fields: [] },
    act: ({ noteOf }) =>
      service.remove(
        applicationId,
        id,
        noteOf({ act: 'sender.deleted', id, details: { application_id: applicationId } }),
      ),
  };
}

function shownName(
  { sender, applicationId, countries }: Pick<Sender, 'sender' | 'applicationId' | 'countries'>,
  { applications }: Pick<Planning, 'applications'>,
): string {
  const where = countries.length === 0 ? 'every country' : [...new Set(countries)].sort().join(', ');
  return `${sender} of ${applications.labelOf(applicationId)} for ${where}`;
}

const pageSize = 1000;

/** All approved senders, oldest first. */
export async function listApproved(service: SenderService): Promise<Sender[]> {
  const all: Sender[] = [];
  for (let after: string | undefined; ; ) {
    const page = await service.list('approved', { limit: pageSize, after });
    all.push(...page);
    if (page.length < pageSize) return all.reverse();
    after = page.at(-1)?.id;
  }
}
