import { apiNames } from '../../http/route.ts';
import type { CountryTemplate } from '../../http/sending-rights.ts';
import { readTime } from '../../platform/database/connections/times.ts';
import type { Tx } from '../../platform/database/database.ts';
import { packed, unpack } from '../../platform/database/packed-row.ts';
import { fromUuid } from '../../platform/ids.ts';
import type { Message } from '../message.ts';
import { nameOf, statusOf, toUuidRange } from '../message-row.ts';
import { isInRange } from '../message-store.ts';
import type { RoutingGiven } from './text-route.ts';

/** The fields of a message that delivery needs. */
export type TextToSend = Pick<
  Message,
  | 'id'
  | 'applicationId'
  | 'api'
  | 'verificationId'
  | 'to'
  | 'sender'
  | 'sentAs'
  | 'body'
  | 'template'
  | 'status'
  | 'segmentCount'
  | 'expiresAtMs'
> & {
  /** Facts besides the table that chose its carrier; null if there were none. */
  given?: RoutingGiven | null;
  /** Its trace id and span id, if it is in a sampled trace. */
  trace?: string | null | undefined;
  /** False if it has no status callback: then a change of its status is only an event. */
  isReported?: boolean;
};

/** The template ids of carriers for a code whose text an operator has set. */
export function templateIdOf({ template }: Pick<TextToSend, 'template'>): string | null {
  const own = (template as { own?: CountryTemplate } | null)?.own;
  return own?.templateId ?? null;
}

interface TextRow {
  cells: string;
  sender: string;
  sentAs: string | null;
  body: string | null;
  template: object | null;
  given: RoutingGiven | null;
  trace: string | null;
}

/** Finds texts by their uuids. Every text that is sent is read once, so no other column is selected or converted. */
export async function findTextsToSend(tx: Tx, uuids: string[]): Promise<Map<string, TextToSend>> {
  const found = new Map<string, TextToSend>();
  if (uuids.length === 0) return found;
  const { rows } = await tx.query<TextRow>(selectStatement, toUuidRange(uuids));
  /** Most texts of a batch are of few applications. */
  const applications = new Map<string, string>();
  for (const { cells, sender, sentAs, body, template, given, trace } of rows) {
    const [uuid = '', owner = '', api, verificationId = '', to = '', status, segments, expiresAt = '', reported] =
      unpack(cells);
    const applicationId = applications.get(owner) ?? fromUuid('app', owner);
    applications.set(owner, applicationId);
    found.set(uuid, {
      id: fromUuid('msg', uuid),
      applicationId,
      api: nameOf(apiNames, Number(api)),
      verificationId: verificationId === '' ? null : fromUuid('ver', verificationId),
      to,
      sender,
      sentAs,
      body,
      template,
      given,
      trace,
      status: statusOf(Number(status)),
      segmentCount: Number(segments),
      expiresAtMs: readTime(expiresAt),
      isReported: reported === 't',
    });
  }
  return found;
}

const cells = [
  ...['id', 'application_id', 'api', 'verification_id?', 'recipient', 'status', 'segment_count', 'expires_at'],
  '(status_callback is not null)',
];
const selectStatement = {
  name: 'select-texts-to-send',
  text: `select ${packed(cells)} as cells, sender, sent_as as "sentAs", body, template, route_given as given, trace
    from message where ${isInRange(1)}`,
};
