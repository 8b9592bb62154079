import { clientConfig, sessionSettings } from '../connections/connection.ts';
import { openSession } from '../connections/sessions.ts';
import type { Session } from '../connections/statement.ts';
import type { HostAddress } from './hosts.ts';
import type { HostView } from './trust.ts';

/** One connection to one host, apart from all pools: a busy pool must not look like a lost primary. */
export interface HostWatch {
  /** Asks the host what it is. */
  look(): Promise<HostView>;
  /** Commits a write of our own. Rejects if no synchronous standby confirmed it, where one is wanted. */
  write(): Promise<void>;
  /** Cuts the connection. The next call opens another. */
  cut(): void;
}

/**
 * Postgres ends a statement before we drop its connection: one that waits for a standby would stay for ever. Below the second
 * for which a write proves anything: the write that waits when a standby joins a new primary is then proof at once.
 */
const limits = { connectMs: 1000, statementMs: 900, transactionMs: 3000 };
/** A frozen host answers nothing: then its connection is cut, so that a new one finds out. */
const answerWithinMs = 3000;

export function createHostWatch({ url }: HostAddress, onLost: () => void): HostWatch {
  const config = { ...clientConfig({ url }, limits), query_timeout: answerWithinMs };
  let session: Session | undefined;
  let opening: Promise<Session> | undefined;

  function lose(which: Session | undefined): void {
    if (session === undefined || session !== which) return;
    session = undefined;
    onLost();
  }

  async function open(): Promise<Session> {
    let opened: Session | undefined;
    opened = await openSession(config, sessionSettings(limits), () => lose(opened));
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

  return {
    async look() {
      const [view] = await ask<HostView>(lookStatement);
      if (view === undefined) throw new Error('the host did not say what it is');
      return view;
    },
    async write() {
      await ask(writeStatement);
    },
    cut() {
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

/** Writes a record to the log and nothing to any table: a commit of it waits for the standby like any other. */
const writeStatement = `select pg_logical_emit_message(true, 'heliograph', '')`;
