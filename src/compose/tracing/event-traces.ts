import type { StoredEvent } from '../../events/event.ts';
import { findTextTraces } from '../../messages/text/text-traces.ts';
import type { Tx } from '../../platform/database/database.ts';
import { findByKeys as findVerifications } from '../../verify/verification-store.ts';

/** The span, in a sampled trace, of each event's subject. For a verification it is the span of its newest text. */
export async function findEventTraces(tx: Tx, events: StoredEvent[]): Promise<Map<string, string>> {
  const subjects = (prefix: string) => events.filter(({ subject }) => subject.startsWith(prefix));
  const texts = new Map(subjects('msg_').map(({ subject }) => [subject, subject]));
  const verifications = subjects('ver_').map(({ applicationId, subject: id }) => ({ applicationId, id }));
  const found = verifications.length === 0 ? [] : await findVerifications(tx, verifications);
  for (const each of found) {
    const newest = each?.row.textIds.at(-1);
    if (each !== undefined && newest !== undefined) texts.set(each.row.id, newest);
  }
  const traces = await findTextTraces(tx, [...new Set(texts.values())]);
  return new Map(
    [...texts].flatMap(([subject, textId]) => {
      const trace = traces.get(textId);
      return trace === undefined ? [] : [[subject, trace] as const];
    }),
  );
}
