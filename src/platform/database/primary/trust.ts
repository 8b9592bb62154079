/** What a host said when it was last asked. Times are of this process's steady clock. */
export interface HostView {
  /** Follows another host, or refuses writes. */
  isStandby: boolean;
  /** Rises by one at each promotion. */
  timeline: number;
  /** Identifies the cluster. Hosts of one cluster are copies of each other. */
  system: string;
  /** When this server began: two addresses may lead to the same one. */
  startedAt: string;
  /** Whether a commit waits for a synchronous standby. */
  isSynchronous: boolean;
}

/** Below the 1.2 s for which a change waits for a node that does not follow: by then the node trusts nothing. */
export const trustedForMs = 1000;

/** What the views say together. */
export type Choice<Host> =
  | { is: 'found'; host: Host }
  | { is: 'none' }
  /** Two servers take writes on the newest timeline: nothing says which one is right. */
  | { is: 'split'; hosts: Host[] };

/**
 * The only host that may be written: it takes writes on the highest timeline that was ever seen. An old primary that
 * wakes up still says that it takes writes, on a lower one.
 */
export function choose<Host>(views: readonly (readonly [Host, HostView])[], highest: number): Choice<Host> {
  const writable = views.filter(([, view]) => !view.isStandby && view.timeline >= highest);
  const [first] = writable;
  if (first === undefined) return { is: 'none' };
  const isOne = writable.every(([, view]) => view.startedAt === first[1].startedAt);
  return isOne ? { is: 'found', host: first[0] } : { is: 'split', hosts: writable.map(([host]) => host) };
}

/** What this process knows of a host from its own writes there, in its steady clock. */
export interface Proof {
  /** When the last write that has committed there began. */
  wroteAtMs: number;
  /** When something there was last lost or left in doubt. */
  doubtedAtMs: number;
}

export const noProof: Proof = { wroteAtMs: Number.NEGATIVE_INFINITY, doubtedAtMs: Number.NEGATIVE_INFINITY };

/**
 * A host is trusted while a write of our own has committed there within the last second. With a synchronous standby an
 * old primary cannot commit, because the standby has left it.
 */
export function isProven({ wroteAtMs }: Proof, nowMs: number): boolean {
  return nowMs - wroteAtMs <= trustedForMs;
}

/** What was lost may be there and not replicated. A write that began later confirms it, or finds out. */
export function isDoubted({ wroteAtMs, doubtedAtMs }: Proof): boolean {
  return wroteAtMs <= doubtedAtMs;
}
