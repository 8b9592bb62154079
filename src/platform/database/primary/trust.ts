/** What a host said when it was last asked. */
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

/** Less than the 1.2 s that a change waits for nodes that do not acknowledge it: by then such a node trusts nothing. */
export const trustedForMs = 1000;

/** The conclusion from the views of all hosts. */
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

/** What this process knows about a host from its own writes there. Times are of its steady clock. */
export interface Proof {
  /** When the newest write that has committed there began. */
  wroteAtMs: number;
  /** When a connection to it was last lost, or a commit last left without an answer. */
  doubtedAtMs: number;
}

export const noProof: Proof = { wroteAtMs: Number.NEGATIVE_INFINITY, doubtedAtMs: Number.NEGATIVE_INFINITY };

/**
 * A host is trusted for a second after a write of ours that committed there. With a synchronous standby an old primary
 * cannot commit: its standby no longer follows it.
 */
export function isProven({ wroteAtMs }: Proof, nowMs: number): boolean {
  return nowMs - wroteAtMs <= trustedForMs;
}

/** True until a write that began after the doubt has committed: lost work may be there without being replicated. */
export function isDoubted({ wroteAtMs, doubtedAtMs }: Proof): boolean {
  return wroteAtMs <= doubtedAtMs;
}
