import type { Clock } from '../../platform/clock.ts';
import type { Database } from '../../platform/database/database.ts';
import { notFound } from '../../platform/errors.ts';
import type { DeclaredErrors } from '../../smpp/receipt-errors.ts';
import { receiptMeaning } from '../../smpp/receipt-meaning.ts';
import { readBinds } from './bind-store.ts';
import { type LogEntry, mostLogEntries, type NodeLog, readLogs } from './log-store.ts';
import { findCarrier, notifyCarriers, wantLog } from './store.ts';

export interface NodeLogEntry extends LogEntry {
  node: string;
  /** What the words of a receipt mean; null if that is not known. */
  meaning: string | null;
}

export interface CarrierLogService {
  /** The last PDUs of a carrier on all nodes, newest first. Waits for the workers for at most 2 s. */
  read(name: string): Promise<NodeLogEntry[]>;
}

const mostPolls = 20;
const pollEveryMs = 100;

export function createCarrierLogService(options: { database: Database; clock: Clock }): CarrierLogService {
  const { database, clock } = options;

  /** Only the workers that run the carrier now answer; logs of others are old. */
  async function waitForAnswers(carrierId: number, wantedAtMs: number): Promise<NodeLog[]> {
    const binds = await readBinds(database, [carrierId], clock.nowMs());
    const nodes = new Set(binds.map(({ node }) => node));
    for (let polls = 0; ; polls++) {
      const logs = await readLogs(database, carrierId);
      const answered = logs.filter((log) => log.wantedAtMs >= wantedAtMs);
      const missing = [...nodes].filter((node) => !answered.some((log) => log.node === node));
      if (missing.length === 0 || polls === mostPolls) return answered;
      await new Promise((done) => setTimeout(done, pollEveryMs));
    }
  }

  return {
    async read(name) {
      const row = await findCarrier(database, name);
      if (row === undefined) throw notFound();
      const wantedAtMs = await database.transaction(async (tx) => {
        const wanted = await wantLog(tx, row.id, clock.nowMs());
        await notifyCarriers(tx);
        return wanted;
      });
      const logs = await waitForAnswers(row.id, wantedAtMs);
      const errors = row.kind === 'smpp' ? (row.settings.errors as DeclaredErrors) : null;
      return (
        logs
          // A worker of an older version does not log the carrier's words.
          .flatMap(({ node, entries }) =>
            entries.map((entry) => {
              const reported = entry.reported ?? null;
              return { ...entry, reported, node, meaning: reported && receiptMeaning(reported, errors) };
            }),
          )
          .sort((a, b) => (a.at < b.at ? 1 : -1))
          .slice(0, mostLogEntries)
      );
    },
  };
}
