import type { Carrier } from '../../api/operator-types.ts';

/** One word for a carrier's state. */
export function stateOf({ paused, state }: Pick<Carrier, 'paused' | 'state'>): string {
  return paused ? 'paused' : state.replaceAll('_', ' ');
}

export function addressOf({ settings }: Carrier): string {
  const { host, port, preset, base } = settings;
  if (typeof host === 'string') return `${host}:${String(port)}`;
  if (typeof preset === 'string') return typeof base === 'string' ? `${preset}, ${base}` : preset;
  return 'Its own description';
}

export function bindsOf({ binds, settings }: Carrier): string {
  const up = binds.filter(({ state }) => state === 'bound' || state === 'ready').length;
  const wanted = typeof settings.binds === 'number' ? settings.binds : Math.max(1, binds.length);
  return `${up} of ${wanted} up`;
}

/** Over HTTP a text is one request, however many parts it has. */
export function rateOf({ kind, settings }: Carrier): string {
  const { per_second } = settings;
  const counted = kind === 'http' ? 'texts' : 'parts';
  return typeof per_second === 'number' ? `${per_second} ${counted} a second` : 'No limit';
}

/** Why connections are not up, and what an operator should change. */
export function bindErrors({ binds, hint }: Carrier): string[] {
  const errors = binds.flatMap(({ slot, error }) => (error === null ? [] : [`Connection ${slot}: ${error}`]));
  return hint === null ? errors : [...errors, hint];
}
