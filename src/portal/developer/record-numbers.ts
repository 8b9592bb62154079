import { findInboundTexts } from '../../inbound/inbound-store.ts';
import { findMessages } from '../../messages/message-store.ts';
import type { Tx } from '../../platform/database/database.ts';
import { isId } from '../../platform/ids.ts';
import { findByKeys as findVerifications } from '../../verify/verification-store.ts';

/** The phone numbers of an application's messages, verifications and texts from phones, by id. Masked ones stay masked. */
export async function findNumbersOf(
  tx: Tx,
  applicationId: string,
  ids: readonly (string | null)[],
): Promise<Map<string, string>> {
  const wanted = [...new Set(ids.flatMap((id) => id ?? []))];
  const messages = await findMessages(
    tx,
    wanted.filter((id) => isId('msg', id)),
  );
  const keys = wanted.filter((id) => isId('ver', id)).map((id) => ({ applicationId, id }));
  const verifications = keys.length === 0 ? [] : await findVerifications(tx, keys);
  const inbound = wanted.filter((id) => isId('inb', id));
  const texts = inbound.length === 0 ? [] : await findInboundTexts(tx, inbound);
  return new Map([
    ...texts.filter((each) => each.applicationId === applicationId).map(({ id, from }) => [id, from] as const),
    ...messages.filter((each) => each.applicationId === applicationId).map(({ id, to }) => [id, to] as const),
    ...verifications.flatMap((each) => (each === undefined ? [] : [[each.row.id, each.row.to] as const])),
  ]);
}
