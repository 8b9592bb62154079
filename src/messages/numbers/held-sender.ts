// Tests: test/contract/senders.test.ts
import type { HeldSender, SendingRights } from '../../http/sending-rights.ts';
import { type ApiError, invalidField } from '../../platform/errors.ts';
import { routedCountryOf } from './phone-number.ts';
import { isSenderName } from './sender.ts';

/** Phones in these countries get texts from numbers only. */
const numbersOnly: readonly string[] = ['US', 'CA', 'PR'];

/** Why an application may not text `to` as `from`, or undefined. */
export function senderRefusal(rights: SendingRights, from: string, to: string): ApiError | undefined {
  const problem = fromProblem(rights, from, to);
  return problem === undefined ? undefined : invalidField('from', problem);
}

/** Completes "from …". */
function fromProblem(rights: SendingRights, from: string, to: string): string | undefined {
  if (rights.senderRule === 'any') return undefined;
  if (isRefusedName(from, to)) return `must be a number: phones in ${routedCountryOf(to)} get no texts from a name`;
  if (rights.senderRule === 'open' || findHeld(rights, from, to) !== undefined) return undefined;
  const where = routedCountryOf(to) ?? 'this number';
  return (
    `must be a sender that this application holds for ${where}; ask for it in the portal or with ` +
    'POST /portal/v1/applications/{id}/senders, and an operator approves it'
  );
}

/** The names of the carriers that know the sender; null for all of them. */
export function senderCarriers(rights: SendingRights, from: string, to: string): readonly string[] | null {
  const carriers = rights.senders.length === 0 ? undefined : findHeld(rights, from, to)?.carriers;
  return carriers === undefined || carriers.length === 0 ? null : carriers;
}

/** The sender of an application's codes to a number: the first that it holds there. */
export function senderOfCodes(rights: SendingRights, to: string): string | undefined {
  if (rights.senders.length === 0) return undefined;
  const isFit = (held: HeldSender) => isForCountryOf(held, to) && !isRefusedName(held.sender, to);
  return rights.senders.find(isFit)?.sender;
}

/** Whether `from` is a name, and no phone of the number's country gets texts from names. */
export function isRefusedName(from: string, to: string): boolean {
  return to.startsWith('+1') && isSenderName(from) && numbersOnly.includes(routedCountryOf(to) ?? '');
}

function findHeld({ senders }: SendingRights, from: string, to: string): HeldSender | undefined {
  return senders.find((held) => isSame(held.sender, from) && isForCountryOf(held, to));
}

function isForCountryOf({ countries }: HeldSender, to: string): boolean {
  return countries.length === 0 || countries.includes(routedCountryOf(to) ?? '');
}

/** A number is the same with and without its plus. Names differ by their letters' case. */
export function isSame(a: string, b: string): boolean {
  return a === b || (withoutPlus(a) === withoutPlus(b) && !isSenderName(a));
}

function withoutPlus(sender: string): string {
  return sender.startsWith('+') ? sender.slice(1) : sender;
}
