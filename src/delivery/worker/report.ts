import type { Clock } from '../../platform/clock.ts';
import type { Database } from '../../platform/database/database.ts';
import type { Log } from '../../platform/log.ts';
import type { CarrierOutcomes } from '../attempts/outcomes.ts';
import { createBindNews } from '../carrier/bind-news.ts';
import { bindsWrittenEveryMs, type CarrierBinds, canSend, deleteBinds, readBinds } from '../carrier/bind-store.ts';
import { writeLog } from '../carrier/log-store.ts';
import type { RunningCarrier } from '../carrier/running.ts';
import { claimTest, writeTestStep } from '../carrier/test-store.ts';
import type { ConfiguredCarrier } from '../setup/watch.ts';

/** Reports a carrier that this node runs to operators. */
export interface CarrierReport {
  /** Its connections, if they are to be written: after a change, and every 5 s. Logs what is new. */
  newState(): NewState | undefined;
  /** Writes its log, if an operator has asked for it since. */
  showLog(logWantedAtMs: number | null): Promise<void>;
  /** Starts a test that an operator has asked for, and does not wait for its end. */
  takeTest(): Promise<void>;
  /** Deletes the rows of its connections. */
  forget(): Promise<void>;
}

export interface NewState extends CarrierBinds {
  /** Deletes the rows of slots that this node no longer holds. Call it before the state is written. */
  deleteLost(): Promise<void>;
  /** The state was written. */
  noteWritten(): void;
}

export interface CarrierReportOptions {
  database: Database;
  clock: Clock;
  log: Log;
  node: string;
  configured: ConfiguredCarrier;
  carrier: RunningCarrier;
  outcomes: CarrierOutcomes;
  onFailure: (error: Error) => void;
}

export function createCarrierReport(options: CarrierReportOptions): CarrierReport {
  const { database, clock, node, carrier, outcomes, onFailure } = options;
  const { id: carrierId, name, logWantedAtMs } = options.configured;
  const logBinds = createBindNews(name, options.log);
  let written: { state: string; atMs: number; slots: number[] } = { state: '', atMs: 0, slots: [] };
  let logWrittenMs = logWantedAtMs ?? 0;

  /** Whether this node may run a test: only a node that is bound may, because one without a slot must not bind. */
  async function mayTest(): Promise<boolean> {
    const own = carrier.binds();
    if (own.length === 0 || own.some(canSend)) return own.length > 0;
    const binds = await readBinds(database, [carrierId], clock.nowMs());
    return !binds.some((bind) => bind.node !== node && canSend(bind));
  }

  return {
    newState() {
      const { hint } = carrier;
      const open = outcomes.open();
      const more = { hint, ...(open.length > 0 && { open }) };
      const binds = carrier.binds().map((bind, index) => (index === 0 ? { ...bind, ...more } : bind));
      logBinds(binds);
      const state = JSON.stringify(binds);
      const nowMs = clock.steadyMs();
      if (state === written.state && nowMs < written.atMs + bindsWrittenEveryMs) return undefined;
      const slots = binds.map(({ slot }) => slot);
      const lost = written.slots.filter((slot) => !slots.includes(slot));
      return {
        carrierId,
        binds,
        deleteLost: async () => {
          if (lost.length > 0) await deleteBinds(database, { carrierId, node, slots: lost });
        },
        noteWritten() {
          written = { state, atMs: nowMs, slots };
        },
      };
    },

    async showLog(wantedAtMs) {
      if (wantedAtMs === null || wantedAtMs <= logWrittenMs) return;
      await writeLog(database, { carrierId, node, wantedAtMs, entries: carrier.readLog() }, clock.nowMs());
      logWrittenMs = wantedAtMs;
    },

    async takeTest() {
      if (!(await mayTest())) return;
      const test = await claimTest(database, carrierId, clock.nowMs());
      if (test === undefined) return;
      carrier.runTest(test, (step) => writeTestStep(database, test.id, step, clock.nowMs())).catch(onFailure);
    },

    forget: () => deleteBinds(database, { carrierId, node, slots: written.slots }).catch(() => {}),
  };
}
