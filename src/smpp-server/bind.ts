import type { BindMode, SmppAccount } from './account.ts';

/** What a bind did since it was bound. */
export interface BindCounts {
  submits: number;
  throttled: number;
  refused: number;
  delivered: number;
}

/** A bind of this process. */
export interface Bind extends BindCounts {
  readonly id: string;
  readonly account: SmppAccount;
  readonly mode: BindMode;
  readonly address: string;
  readonly tls: boolean;
  readonly boundAtMs: number;
  /** The key under which the account is remembered. */
  readonly key: string;
  /** The sum of its counts at the last write; its submits until `sinceMs`, and in the minute before that. */
  written: number;
  minute: { sinceMs: number; submits: number; last: number };
}

/** A bind of any process, as it was last written. */
export interface ShownBind extends BindCounts {
  id: string;
  accountId: string;
  mode: BindMode;
  address: string;
  tls: boolean;
  boundAtMs: number;
  perMinute: number;
}

/** A command that we refused, shown to the developer. */
export interface Problem {
  accountId: string;
  atMs: number;
  command: string;
  status: number;
  why: string;
}

export function newBind(given: Pick<Bind, 'id' | 'account' | 'mode' | 'address' | 'tls' | 'boundAtMs' | 'key'>): Bind {
  const counts = { submits: 0, throttled: 0, refused: 0, delivered: 0 };
  return { ...given, ...counts, written: 0, minute: { sinceMs: given.boundAtMs, submits: 0, last: 0 } };
}

/** How many submits it had in the last whole minute. */
export function perMinuteOf(bind: Bind, nowMs: number): number {
  const { minute } = bind;
  if (nowMs - minute.sinceMs < 60_000) return minute.last;
  const isRecent = nowMs - minute.sinceMs < 120_000;
  bind.minute = { sinceMs: nowMs, submits: bind.submits, last: isRecent ? bind.submits - minute.submits : 0 };
  return bind.minute.last;
}
