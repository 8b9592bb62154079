import type { SmppSettings } from './settings.ts';

const secondMs = 1000;
const minuteMs = 60 * secondMs;
/** No text waits longer than 72 hours; a longer time is an operator's `validity_min_seconds`. */
const longestMs = 30 * 24 * 60 * minuteMs;

type ValiditySettings = Pick<SmppSettings, 'validity' | 'utc_offset' | 'validity_min_seconds'>;

/** validity_period of a text that is of no use after `expiresAtMs`; empty lets the carrier decide. */
export function validityPeriod(expiresAtMs: number, nowMs: number, settings: ValiditySettings): string {
  if (settings.validity === 'none' || !Number.isFinite(expiresAtMs)) return '';
  const leastMs = Math.max(secondMs, settings.validity_min_seconds * secondMs);
  const leftMs = Math.min(longestMs, Math.max(leastMs, expiresAtMs - nowMs));
  return settings.validity === 'absolute'
    ? absolute(nowMs + leftMs, quartersOf(settings.utc_offset))
    : relative(Math.ceil(leftMs / secondMs));
}

/** `YYMMDDhhmmss000R`: years, months, days, hours, minutes and seconds from now. */
function relative(seconds: number): string {
  const minutes = Math.floor(seconds / 60);
  const hours = Math.floor(minutes / 60);
  return `0000${two(Math.floor(hours / 24))}${two(hours % 24)}${two(minutes % 60)}${two(seconds % 60)}000R`;
}

/** `YYMMDDhhmmsstnnp`: the local time of the offset, tenths of a second, and the offset in quarters of an hour. */
function absolute(atMs: number, quarters: number): string {
  const local = new Date(atMs + quarters * 15 * minuteMs);
  const date = `${two(local.getUTCFullYear() % 100)}${two(local.getUTCMonth() + 1)}${two(local.getUTCDate())}`;
  const time = `${two(local.getUTCHours())}${two(local.getUTCMinutes())}${two(local.getUTCSeconds())}`;
  return `${date}${time}0${two(Math.abs(quarters))}${quarters < 0 ? '-' : '+'}`;
}

const offset = /^([+-])(0[0-9]|1[0-2]):(00|15|30|45)$/;

/** Why `utc_offset` can't be used (completes a sentence that begins with its name), or undefined. */
export function utcOffsetProblem(written: string): string | undefined {
  const isRight = offset.test(written) && Math.abs(quartersOf(written)) <= 48;
  return isRight ? undefined : 'must be a quarter of an hour between -12:00 and +12:00, like +05:30';
}

/** SMPP has room for twelve hours either way. An unreadable offset counts as UTC. */
function quartersOf(written: string): number {
  const [, sign, hours, minutes] = offset.exec(written) ?? [];
  const quarters = 4 * Number(hours ?? 0) + Number(minutes ?? 0) / 15;
  return sign === '-' ? -quarters : quarters;
}

function two(value: number): string {
  return String(value).padStart(2, '0');
}
