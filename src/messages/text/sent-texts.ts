import { readTimeOrNull } from '../../platform/database/connections/times.ts';
import type { Tx } from '../../platform/database/database.ts';
import { packed, unpack } from '../../platform/database/packed-row.ts';
import { fromUuid } from '../../platform/ids.ts';
import { type Channel, channelNames } from '../channel.ts';
import type { Message } from '../message.ts';
import { errorOf, nameOf, statusOf, toIdRange } from '../message-row.ts';
import { isInRange } from '../message-store.ts';

/** The state of a text, and the channel that it was sent by. */
export interface SentText extends Pick<Message, 'status' | 'errorCode'> {
  messageId: string;
  channel: Channel;
  /** When a carrier accepted it; null if none has. */
  sentAtMs: number | null;
}

/** Texts by their ids. */
export async function findSentTexts(tx: Tx, messageIds: string[]): Promise<Map<string, SentText>> {
  if (messageIds.length === 0) return new Map();
  const { rows } = await tx.query<{ cells: string }>(statement, toIdRange(messageIds));
  return new Map(rows.map(({ cells }) => toSent(cells)).map((text) => [text.messageId, text]));
}

const statement = {
  name: 'select-sent-texts',
  text: `select ${packed(['id', 'status', 'error_code?', 'channel', 'sent_at?'])} as cells from message where ${isInRange(1)}`,
};

function toSent(row: string): SentText {
  const [id = '', status, errorCode = '', channel, sentAt = ''] = unpack(row);
  return {
    messageId: fromUuid('msg', id),
    status: statusOf(Number(status)),
    errorCode: errorCode === '' ? null : errorOf(Number(errorCode)),
    channel: nameOf(channelNames, Number(channel)),
    sentAtMs: readTimeOrNull(sentAt),
  };
}
