import { isDeepStrictEqual } from 'node:util';
import { type Static, Type } from 'typebox';
import { problemsOf } from '../http/request/validation.ts';
import { isId } from '../platform/ids.ts';
import { checkSender, senderApproval, senderBody } from '../portal/developer/sender-record.ts';
import type { Approval, Sender } from '../registry/sender.ts';
import { isSameWish, type SenderService } from '../registry/sender-service.ts';
import { type ApplyPlan, type ApplyStep, type NoteOf, nothingToApply, repeated, sayWrong } from './apply-step.ts';

const senderSchema = Type.Object(
  {
    application_id: Type.String({ maxLength: 64, expected: 'the id of an application' }),
    ...senderBody.properties,
    ...Type.Partial(Type.Object(senderApproval)).properties,
  },
  { check: checkSender },
);
type WrittenSender = Static<typeof senderSchema>;

export interface SenderParts {
  service: SenderService;
  isApplication: (id: string) => Promise<boolean>;
  /** Whether there is such a carrier, or the file makes it. */
  isCarrier: (name: string) => Promise<boolean>;
}

/** Senders of a file are approved as it says. What it does not say of one stays. */
export async function planSenders(written: unknown[] | undefined, parts: SenderParts): Promise<ApplyPlan> {
  if (written === undefined) return nothingToApply;
  const given = structuredClone(written);
  const wrong: string[] = [];
  for (const [index, entry] of given.entries()) wrong.push(...(await problemsIn(entry, `senders.${index}`, parts)));
  if (wrong.length > 0) return { ...nothingToApply, wrong };
  const senders = given as WrittenSender[];
  const twice = repeated(senders.map(nameOf));
  if (twice.length > 0) return { ...nothingToApply, wrong: twice.map((name) => `senders: ${name} is there twice`) };
  const steps: ApplyStep[] = [];
  for (const sender of senders) steps.push(await planOne(sender, parts.service));
  const others = (await listApproved(parts.service)).filter(
    (sender) => !senders.some((each) => each.application_id === sender.applicationId && isSameWish(each, sender)),
  );
  return {
    wrong,
    steps,
    others: others.map((sender) => ({
      line: `${nameOf({ ...sender, application_id: sender.applicationId })}: deleted`,
      act: (noteOf) =>
        parts.service.remove(sender.applicationId, sender.id, noteOf({ act: 'sender.deleted', id: sender.id })),
    })),
  };
}

async function problemsIn(entry: unknown, where: string, { isApplication, isCarrier }: SenderParts): Promise<string[]> {
  const unfit = sayWrong(where, problemsOf(senderSchema, entry));
  if (unfit.length > 0) return unfit;
  const { application_id: id, carriers = [] } = entry as WrittenSender;
  const wrong: string[] = [];
  if (!isId('app', id) || !(await isApplication(id)))
    wrong.push(`${where}: application_id must be the id of an application`);
  for (const name of carriers)
    if (!(await isCarrier(name))) wrong.push(`${where}: carriers must be names of carriers; there is no ${name}`);
  return wrong;
}

async function planOne(written: WrittenSender, service: SenderService): Promise<ApplyStep> {
  const { application_id: applicationId, sender, countries, carriers, registration, per_second: perSecond } = written;
  const before = (await service.listOf(applicationId)).find((other) => isSameWish(other, { sender, countries }));
  const approval: Approval = {
    carriers: carriers ?? before?.carriers ?? [],
    registration: registration === undefined ? (before?.registration ?? null) : registration,
    perSecond: perSecond === undefined ? (before?.perSecond ?? null) : perSecond,
  };
  const name = nameOf(written);
  const give = (noteOf: NoteOf) =>
    service.give(applicationId, { sender, countries }, approval, (tx, { id }) =>
      noteOf({ act: 'sender.approved', id, details: { sender, application_id: applicationId } })(tx, undefined),
    );
  if (before === undefined) return { line: `${name}: new`, act: give };
  const was = { carriers: before.carriers, registration: before.registration, perSecond: before.perSecond };
  if (before.status !== 'approved') return { line: `${name}: ${before.status} → approved`, act: give };
  return isDeepStrictEqual(was, approval) ? { line: `${name}: unchanged` } : { line: `${name}: changed`, act: give };
}

function nameOf({ sender, application_id, countries }: Pick<WrittenSender, 'sender' | 'application_id' | 'countries'>) {
  const where = countries.length === 0 ? 'every country' : [...new Set(countries)].sort().join(', ');
  return `sender ${sender} of ${application_id} for ${where}`;
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

/** A sender as `export` writes it. */
export function exportSender({ sender, applicationId, countries, carriers, registration, perSecond }: Sender): object {
  return {
    sender,
    application_id: applicationId,
    countries,
    ...(carriers.length > 0 && { carriers }),
    ...(registration !== null && { registration }),
    ...(perSecond !== null && { per_second: perSecond }),
  };
}
