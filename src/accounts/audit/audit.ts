import type { Call } from '../../http/route.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Note, Tx } from '../../platform/database/database.ts';
import { newId } from '../../platform/ids.ts';
import { type ActorKind, insertEntry } from './store.ts';

/** What was done, and to what. */
export interface Deed {
  /** Such as `key.created`: the kind of the target, and what happened to it. */
  act: `${string}.${string}`;
  /** The target's id or name. */
  id: string;
  /** What an owner or an operator wants to know of it. Never a secret. */
  details?: Record<string, unknown>;
  /** Of another account than the caller's. Null for what belongs to the service. */
  accountId?: string | null;
  /** The person, on a route that visitors call. */
  personId?: string;
}

type Caller = Pick<Call, 'caller' | 'path' | 'address'>;

export type Audit = ReturnType<typeof createAudit>;

/** The one way into the audit log. An entry is written in the transaction of the act itself: neither is there alone. */
export function createAudit({ clock }: { clock: Clock }) {
  async function record(tx: Tx, call: Caller, deed: Deed): Promise<void> {
    const { caller } = call;
    const isMember = caller.kind === 'developer';
    // What an operator does belongs to no account, unless the deed names one.
    const actorKind: ActorKind = call.path.startsWith('/portal/v1/operator/') ? 'operator' : 'member';
    const ownAccount = isMember && actorKind === 'member' ? caller.accountId : null;
    await insert(tx, deed, {
      actorKind,
      actorId: deed.personId ?? (isMember ? caller.personId : null),
      accountId: deed.accountId === undefined ? ownAccount : deed.accountId,
      address: call.address,
    });
  }

  async function insert(tx: Tx, { act, id, details = {} }: Deed, actor: Actor): Promise<void> {
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
      <Result = unknown>(call: Caller, deed: Deed | ((result: Result) => Deed)): Note<Result> =>
      (tx, result) =>
        record(tx, call, typeof deed === 'function' ? deed(result) : deed),

    /** A command on the machine. */
    recordByMachine: (tx: Tx, deed: Deed): Promise<void> =>
      insert(tx, deed, {
        actorKind: 'machine',
        actorId: null,
        accountId: deed.accountId ?? null,
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

/** Details in a size and in characters that Postgres takes. */
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
