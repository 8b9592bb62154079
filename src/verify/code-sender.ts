import type { SendingRights } from '../http/sending-rights.ts';
import { isRefusedName, senderOfCodes } from '../messages/held-sender.ts';
import { invalidField } from '../platform/errors.ts';

/** Where senders need an approval, an application's name is not one: its developer may change it at any time. */
const neutralName = 'Verify';

/**
 * The sender of a code: the first that the application holds for the country, else its route's, else the name of the
 * application. A 400 if it is a name and the country knows only numbers.
 */
export function codeSender(
  rights: SendingRights,
  to: string,
  appName: string,
  routeFrom: string | null = null,
): string {
  const byDefault = rights.senderRule === 'held' ? neutralName : appName;
  const sender = senderOfCodes(rights, to) ?? routeFrom ?? byDefault;
  if (rights.senderRule === 'any' || !isRefusedName(sender, to)) return sender;
  throw invalidField(
    'to',
    'must be in a country that the application has a sender for; phones there get texts from numbers only: ask for one ' +
      'in the portal or with POST /portal/v1/applications/{id}/senders',
  );
}
