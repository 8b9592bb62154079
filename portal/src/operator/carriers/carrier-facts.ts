import type { Carrier } from '../../api/operator-types.ts';
import { words } from '../../words/operator/carriers.ts';

export function addressOf({ settings }: Carrier): string {
  const { host, port, preset, base } = settings;
  if (typeof host === 'string') return `${host}:${String(port)}`;
  if (typeof preset === 'string') return typeof base === 'string' ? `${preset}, ${base}` : preset;
  return words.facts.ownDescription;
}

export function bindsOf({ binds, settings }: Carrier): string {
  const up = binds.filter(({ state }) => state === 'bound' || state === 'ready').length;
  const wanted = typeof settings.binds === 'number' ? settings.binds : Math.max(1, binds.length);
  return words.facts.up(up, wanted);
}

/** Whether a connection waits for its next attempt. */
export function isWaiting({ binds }: Pick<Carrier, 'binds'>): boolean {
  return binds.some(({ next_try_at, state }) => next_try_at !== null && (state === 'waiting' || state === 'failing'));
}

/** Over HTTP a text is one request, regardless of its parts. */
export function rateOf({ kind, settings }: Carrier): string {
  const { per_second } = settings;
  if (typeof per_second !== 'number') return words.noLimit;
  return kind === 'http' ? words.facts.texts(per_second) : words.facts.parts(per_second);
}

/** Why connections are not up, and what an operator should change. */
export function bindErrors({ binds, hint }: Carrier): string[] {
  const errors = binds.flatMap(({ slot, error }) => (error === null ? [] : [words.facts.bindError(slot, error)]));
  return hint === null ? errors : [...errors, hint];
}
