import { clientConfig, sessionSettings } from '../connections/connection.ts';
import { openSession } from '../connections/sessions.ts';
import type { Session } from '../connections/statement.ts';
import type { HostAddress } from './hosts.ts';
import type { HostView } from './trust.ts';

/** One connection to one host, apart from all pools: a busy pool must not look like a lost primary. */
export interface HostWatch {
  /** Asks the host what it is. */
  look(): Promise<HostView>;
  /** Commits a write of our own. Rejects if no synchronous standby confirms it within a second, where one is wanted. */
  write(): Promise<void>;
  /** Cuts the connection. The next call opens another. */
  cut(): void;
}

/**
 * Postgres has no time limit for a commit that waits for its standby, not even when its client disconnects: we cancel it.
 */
const giveUpAfterMs = 900;
const limits = { connectMs: 1000, statementMs: 3000, transactionMs: 3000 };
/** A frozen host does not answer: after this its connection is closed, and the next poll opens another. */
const answerWithinMs = 3200;

export function createHostWatch({ url }: HostAddress, onLost: () => void): HostWatch {
  const config = { ...clientConfig({ url }, limits), query_timeout: answerWithinMs };
  const settings = sessionSettings(limits);
  let session: Session | undefined;
  let opening: Promise<Session> | undefined;
  /** The process id of the session in Postgres. */
  let pid = 0;
  /** A second session that cancels writes; open from the first late write until one succeeds. */
  let helper: Session | undefined;

  function lose(which: Session | undefined): void {
    if (session === undefined || session !== which) return;
    session = undefined;
    onLost();
  }

  async function open(): Promise<Session> {
    let opened: Session | undefined;
    opened = await openSession(config, settings, () => lose(opened));
    const { rows } = await opened.query<{ pid: number }>('select pg_backend_pid() as pid');
    pid = rows[0]?.pid ?? 0;
    session = opened;
    return opened;
  }

  async function ask<Row>(statement: string): Promise<Row[]> {
    opening ??= session === undefined ? open().finally(() => (opening = undefined)) : undefined;
    const used = session ?? (await opening);
    if (used === undefined) throw new Error('the connection was lost');
    const { rows } = await used.query<Row>(statement);
    return rows;
  }

  /** Cancels the write, which then fails as not confirmed by a standby. */
  async function giveUp(): Promise<void> {
    helper ??= await openSession(config, settings, dismiss);
    await helper.query('select pg_cancel_backend($1)', [pid]);
  }

  function dismiss(): void {
    void helper?.close().catch(() => {});
    helper = undefined;
  }

  return {
    async look() {
      const [view] = await ask<HostView>(lookStatement);
      if (view === undefined) throw new Error('the host did not say what it is');
      return view;
    },
    async write() {
      let givingUp: Promise<void> | undefined;
      const late = setTimeout(() => {
        givingUp = giveUp().catch(dismiss);
      }, giveUpAfterMs);
      try {
        await ask(writeStatement);
        dismiss();
      } finally {
        clearTimeout(late);
        // Wait, so that a late cancel does not hit the next statement.
        await givingUp;
      }
    },
    cut() {
      dismiss();
      const cutting = session;
      session = undefined;
      void cutting?.close().catch(() => {});
    },
  };
}

/** A standby's timeline is the one that it follows; a primary's the one that it writes. */
const lookStatement = `select pg_is_in_recovery() or current_setting('transaction_read_only')::boolean as "isStandby",
    case when pg_is_in_recovery()
      then (select greatest(c.timeline_id, r.min_recovery_end_timeline) from pg_control_checkpoint() c, pg_control_recovery() r)
      else ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::integer end as timeline,
    (select system_identifier::text from pg_control_system()) as system,
    pg_postmaster_start_time()::text as "startedAt",
    current_setting('synchronous_standby_names') <> ''
      and current_setting('synchronous_commit') not in ('off', 'local') as "isSynchronous"`;

/** Writes to the WAL but to no table: its commit waits for the standby like any other. */
const writeStatement = `select pg_logical_emit_message(true, 'heliograph', '')`;
