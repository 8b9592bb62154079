// Tests: test/contract/portal-audit.test.ts
import type { Call } from '../../http/route.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Note, Tx } from '../../platform/database/database.ts';
import { newId } from '../../platform/ids.ts';
import { type ActorKind, insertEntry } from './store.ts';

/** An act and its target, as a caller gives it. */
export interface AuditEntry {
  /** Such as `key.created`: the kind of the target, and what happened to it. */
  act: `${string}.${string}`;
  /** The target's id or name. */
  id: string;
  /** For owners and operators. Never a secret. */
  details?: Record<string, unknown>;
  /** The account that the act belongs to, if not the caller's. Null for acts on the service itself. */
  accountId?: string | null;
  /** The person who acted, on a route that needs no sign-in. */
  personId?: string;
}

type Caller = Pick<Call, 'caller' | 'path' | 'address'>;

export type Audit = ReturnType<typeof createAudit>;

/** The only way into the audit log. The transaction of the act writes the entry, so both commit or neither. */
export function createAudit({ clock }: { clock: Clock }) {
  async function record(tx: Tx, call: Caller, entry: AuditEntry): Promise<void> {
    const { caller } = call;
    const isMember = caller.kind === 'developer';
    // Acts of an operator belong to no account, unless the entry names one.
    const actorKind: ActorKind = call.path.startsWith('/portal/v1/operator/') ? 'operator' : 'member';
    const ownAccount = isMember && actorKind === 'member' ? caller.accountId : null;
    await insert(tx, entry, {
      actorKind,
      actorId: entry.personId ?? (isMember ? caller.personId : null),
      accountId: entry.accountId === undefined ? ownAccount : entry.accountId,
      address: call.address,
    });
  }

  async function insert(tx: Tx, { act, id, details = {} }: AuditEntry, actor: Actor): Promise<void> {
    await insertEntry(tx, {
      ...actor,
      id: newId('aud', clock),
      createdAtMs: clock.nowMs(),
      act,
      targetKind: act.slice(0, act.indexOf('.')),
      targetId: id,
      details: boundedDetails(details),
    });
  }

  return {
    record,

    /** For a service that writes in a transaction of its own. */
    note:
      <Result = unknown>(call: Caller, entry: AuditEntry | ((result: Result) => AuditEntry)): Note<Result> =>
      (tx, result) =>
        record(tx, call, typeof entry === 'function' ? entry(result) : entry),

    /** For a command on the machine. */
    recordByMachine: (tx: Tx, entry: AuditEntry): Promise<void> =>
      insert(tx, entry, {
        actorKind: 'machine',
        actorId: null,
        accountId: entry.accountId ?? null,
        address: null,
      }),
  };
}

interface Actor {
  actorKind: ActorKind;
  actorId: string | null;
  accountId: string | null;
  address: string | null;
}

const longestDetails = 2000;

/** Limits details to a size and to characters that Postgres accepts. */
export function boundedDetails(details: Record<string, unknown>): Record<string, unknown> {
  const text = JSON.stringify(details, (_, value) => (typeof value === 'string' ? storable(value) : value));
  return text.length <= longestDetails
    ? JSON.parse(text)
    : { shortened: `${text.slice(0, 500).replaceAll('\\', '')}…` };
}

/** Without NUL and lone halves of surrogate pairs, which Postgres refuses in JSON. */
function storable(text: string): string {
  return Buffer.from(text.slice(0, 500).replaceAll('\0', ''), 'utf8').toString('utf8');
}
