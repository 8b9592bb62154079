// Tests: test/smpp-server/binds.test.ts
import type { LimitDecision } from '../http/admission.ts';
import type { Clock } from '../platform/clock.ts';
import { newId } from '../platform/ids.ts';
import type { Log } from '../platform/log.ts';
import { type BindPdu, type CancelPdu, type QueryPdu, statuses } from '../smpp/pdu.ts';
import type { KnownAccount } from './account.ts';
import { type AccountLookup, keyOf } from './account-lookup.ts';
import { isAllowed } from './addresses.ts';
import { type Bind, newBind } from './bind.ts';
import type { Binds } from './binds.ts';
import type { SmppCredentials } from './credentials.ts';
import type { Deliveries } from './deliveries.ts';
import type { Lookups } from './lookups.ts';
import { modeOf, type Peer, type PeerDesk } from './peer.ts';
import { refusedQuery, type Submits } from './submits.ts';

export interface DeskOptions {
  clock: Clock;
  log: Log;
  environment: 'sandbox' | 'production';
  accounts: AccountLookup;
  credentials: SmppCredentials;
  binds: Binds;
  submits: Submits;
  lookups: Lookups;
  deliveries: Deliveries;
  /** Whether the address has had few enough wrong credentials in the last minute. */
  mayTry: (address: string) => Promise<boolean>;
  /** Counts a wrong credential by its address. */
  chargeAddress: (address: string) => LimitDecision | Promise<LimitDecision>;
  /** How long a wrong password waits for its answer. */
  delayMs: number;
}

export interface Desk extends PeerDesk<Bind> {
  end(bind: Bind, drainMs: number): void;
}

/** Admits binds, and hands requests on. */
export function createDesk(options: DeskOptions): Desk {
  const { clock, log, environment, accounts, credentials, binds, submits, lookups, deliveries } = options;
  const peers = new Map<Bind, Peer>();

  /** Null for wrong credentials. Right credentials that are remembered are never refused because of their address. */
  async function findAccount(pdu: BindPdu, address: string): Promise<KnownAccount | null> {
    const { systemId, password } = pdu;
    const key = keyOf(pdu);
    const remembered = accounts.remembered(key);
    if (remembered !== undefined && remembered !== null) return remembered;
    const isKnown = remembered === undefined && accounts.wasKnown(key);
    // Only wrong credentials count against their address: a gateway may bring back fifty binds at once.
    const mayBeRight = isKnown || (credentials.isPlausible({ systemId, password }) && (await options.mayTry(address)));
    const found = mayBeRight ? await accounts.lookUp(key) : null;
    if (found === null && !isKnown) await options.chargeAddress(address);
    return found;
  }

  async function bind(pdu: BindPdu, peer: Peer): Promise<Bind | number> {
    const found = await findAccount(pdu, peer.address);
    if (found === null) {
      log.info({ address: peer.address }, 'an SMPP bind had wrong credentials');
      await new Promise((resolve) => setTimeout(resolve, options.delayMs));
      return statuses.invalidPassword;
    }
    const { account, allowed } = found;
    const problem = addressProblem(found, peer);
    if (problem !== undefined) return refuse(account.id, statuses.bindFailed, problem);
    const made = newBind({
      ...{ id: newId('bnd', clock), account, mode: modeOf(pdu), address: peer.address, tls: peer.tls },
      ...{ boundAtMs: clock.nowMs(), key: keyOf(pdu) },
    });
    const taken = await binds.take(made);
    if (taken === undefined) return statuses.invalidPassword;
    if (!taken)
      return refuse(account.id, statuses.bindFailed, `the account already has ${account.binds} binds, its maximum`);
    // The account may have changed while the bind was written.
    if (accounts.remembered(made.key) === null) {
      binds.leave(made);
      return statuses.invalidPassword;
    }
    log.info(
      { bind: made.id, application_id: account.applicationId, mode: made.mode, restricted: allowed !== undefined },
      'an SMPP bind began',
    );
    return made;
  }

  function addressProblem({ allowed }: KnownAccount, { address, tls }: Peer): string | undefined {
    if (allowed !== undefined)
      return isAllowed(allowed, address) ? undefined : 'the address is not in the addresses of the account';
    const needsOne = environment === 'production' && !tls;
    return needsOne ? 'an account without addresses must bind to the TLS port' : undefined;
  }

  function refuse(accountId: string, status: number, why: string): number {
    binds.note({ accountId, atMs: clock.nowMs(), command: 'bind', status, why });
    return status;
  }

  function left(made: Bind): void {
    deliveries.remove(made);
    binds.leave(made);
  }

  return {
    bind,
    bound(made, peer) {
      peers.set(made, peer);
      deliveries.add(made, peer);
    },
    submit: submits.submit,
    query: (made, pdu: QueryPdu) =>
      submits.ask(made, 'query_sm', refusedQuery, ({ caller }) => lookups.query(caller.applicationId, pdu.messageId)),
    cancel: (made, pdu: CancelPdu) =>
      submits.ask(
        made,
        'cancel_sm',
        (status) => status,
        ({ caller }) => lookups.cancel(caller.applicationId, pdu.messageId),
      ),
    refused(made, command, status, why) {
      made.refused++;
      binds.note({ accountId: made.account.id, atMs: clock.nowMs(), command, status, why });
    },
    hasRoom: () => deliveries.wake(),
    left,
    closed(_peer, made) {
      if (made === undefined) return;
      peers.delete(made);
      left(made);
      log.info(
        { bind: made.id, application_id: made.account.applicationId, submits: made.submits },
        'an SMPP bind ended',
      );
    },
    end(made, drainMs) {
      void peers.get(made)?.end(drainMs);
    },
  };
}
