import { type Clock, toTimestamp } from '../platform/clock.ts';
import type { Database, Tx } from '../platform/database/database.ts';
import { fromUuid, uuidOf } from '../platform/ids.ts';
import type { Log } from '../platform/log.ts';
import type { CallOutcome } from './hook.ts';

/** A call of a hook, for its developer. */
export interface HookCall {
  hookId: string;
  /** The id of the request. */
  id: string;
  atMs: number;
  outcome: CallOutcome;
  detail: string | null;
  /** The id of the verification or text that the call made. */
  subject: string | null;
}

/** Calls that a hook keeps. */
export const mostCalls = 50;
/** Hooks whose calls wait to be written, at most. */
const mostWaiting = 1000;
const writeAfterMs = 1000;

/** Keeps the last calls of each hook. They are written together shortly after: no answer waits for it. */
export function createCallLog({ database, clock, log }: { database: Database; clock: Clock; log: Log }) {
  let waiting = new Map<string, HookCall[]>();
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> = Promise.resolve();

  function flush(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    const calls = [...waiting.values()].flatMap((each) => each.slice(-mostCalls));
    waiting = new Map();
    if (calls.length > 0)
      writing = writing
        .then(() => database.transaction((tx) => writeCalls(tx, calls)))
        .catch(({ message: reason }: Error) => log.warn({ reason }, 'calls of hooks were not kept'));
    return writing;
  }

  return {
    note(call: Omit<HookCall, 'atMs'>): void {
      const calls = waiting.get(call.hookId);
      const noted = { ...call, atMs: clock.nowMs() };
      if (calls === undefined) {
        if (waiting.size < mostWaiting) waiting.set(call.hookId, [noted]);
      } else {
        // In a flood the newest are enough.
        if (calls.length >= 2 * mostCalls) calls.splice(0, mostCalls);
        calls.push(noted);
      }
      timer ??= setTimeout(() => void flush(), writeAfterMs);
    },

    /** Newest first. */
    async list(hookId: string): Promise<HookCall[]> {
      await flush();
      const { rows } = await database.query<HookCall>(
        `select hook_id as "hookId", id, at as "atMs", outcome, detail, subject from hook_call where hook_id = $1
         order by id desc limit $2`,
        [hookId, mostCalls],
      );
      return rows.map((row) => ({ ...row, id: fromUuid('req', row.id) }));
    },

    drain: flush,
  };
}

export type CallLog = ReturnType<typeof createCallLog>;

/** A hook that was deleted meanwhile keeps none: the lock waits for a deletion that is under way. */
async function writeCalls(tx: Tx, calls: HookCall[]): Promise<void> {
  await tx.query(
    `with h as materialized (select id from hook where id = any($1::text[]) order by id for key share)
     insert into hook_call (hook_id, id, at, outcome, detail, subject)
     select c.* from unnest($1::text[], $2::uuid[], $3::timestamptz[], $4::text[], $5::text[], $6::text[])
       as c(hook_id, id, at, outcome, detail, subject)
     join h on h.id = c.hook_id on conflict do nothing`,
    [
      calls.map(({ hookId }) => hookId),
      calls.map(({ id }) => uuidOf(id)),
      calls.map(({ atMs }) => toTimestamp(atMs)),
      calls.map(({ outcome }) => outcome),
      calls.map(({ detail }) => detail),
      calls.map(({ subject }) => subject),
    ],
  );
  await tx.query(
    `delete from hook_call where (hook_id, id) in (
       select c.hook_id, c.id from unnest($1::text[]) as h(id) cross join lateral (
         select hook_id, id from hook_call where hook_id = h.id order by id desc offset $2) c)`,
    [[...new Set(calls.map(({ hookId }) => hookId))], mostCalls],
  );
}
