// Tests: test/contract/senders.test.ts
import type { SendingRights } from '../http/sending-rights.ts';
import type { SendingChannel } from '../messages/channel.ts';
import { isRefusedName, senderCarriers, senderOfCodes } from '../messages/numbers/held-sender.ts';
import type { TextFacts } from '../messages/text/text-route.ts';
import { invalidField } from '../platform/errors.ts';

/** The sender of an application's code. A route may set another one. */
export type CodeSender = Pick<TextFacts, 'from' | 'holdsSender' | 'senderCarriers'>;

/**
 * Where senders need approval, the name of an application is not one, because its developer can change it at any time.
 */
const neutralName = 'Verify';

/**
 * The first sender that the application holds for the country, else the name of the application. Calls and WhatsApp
 * messages come from the carrier's own number.
 */
export function codeSender(
  rights: SendingRights,
  to: string,
  appName: string,
  channel: SendingChannel = 'sms',
): CodeSender {
  const held = channel === 'sms' ? senderOfCodes(rights, to) : undefined;
  if (held !== undefined) {
    return { from: held, holdsSender: true, senderCarriers: senderCarriers(rights, held, to) };
  }
  const from = rights.senderRule === 'held' ? neutralName : appName;
  return { from, holdsSender: false, senderCarriers: null };
}

/** Throws a 400 if the sender is a name and phones in the country get texts from numbers only. */
export function requireAllowedSender(rights: SendingRights, to: string, sender: string): void {
  if (rights.senderRule === 'any' || !isRefusedName(sender, to)) return;
  throw invalidField(
    'to',
    'must be in a country that the application has a sender for; phones there get texts from numbers only: ask for one ' +
      'in the portal or with POST /portal/v1/applications/{id}/senders',
  );
}
