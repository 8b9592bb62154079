import { dayMs, minuteMs } from '../../platform/clock.ts';

/** When texts may leave, by the clocks of a zone. From 22:00 to 06:00 is a night that belongs to the day it begins on. */
export interface RouteHours {
  /** Like 08:00. */
  from: string;
  /** Like 20:00, or 24:00. */
  to: string;
  /** Names of `weekDays`; an empty list means every day. */
  days: string[];
  /** A zone of the tz database, like Europe/London. */
  zone: string;
}

/** In the order of `getUTCDay`. */
export const weekDays = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];

/** When the hours begin next; null if texts may leave now. */
export function openingAfter(hours: RouteHours, nowMs: number): number | null {
  const today = localMidnight(hours.zone, nowMs);
  let next: number | null = null;
  // Yesterday's hours may last until today, and the next day that is open is at most a week away.
  for (let day = -1; day <= 8; day++) {
    const date = today + day * dayMs;
    if (hours.days.length > 0 && !hours.days.includes(weekDays[new Date(date).getUTCDay()] ?? '')) continue;
    const from = minutesOf(hours.from);
    const length = (minutesOf(hours.to) - from + 1440) % 1440 || 1440;
    const opensMs = toInstant(hours.zone, date + from * minuteMs);
    const closesMs = toInstant(hours.zone, date + (from + length) * minuteMs);
    if (nowMs >= opensMs && nowMs < closesMs) return null;
    if (opensMs > nowMs) next ??= opensMs;
  }
  return next;
}

/** Whether the system knows the zone. */
export function isZone(zone: string): boolean {
  try {
    formatOf(zone);
    return true;
  } catch {
    return false;
  }
}

function minutesOf(time: string): number {
  const [hours = 0, minutes = 0] = time.split(':').map(Number);
  return hours * 60 + minutes;
}

/** A local time is kept as the instant at which UTC shows the same time. */
function localMidnight(zone: string, nowMs: number): number {
  const local = nowMs + offsetMs(zone, nowMs);
  return local - mod(local, dayMs);
}

/**
 * The instant of a local time. A skipped time becomes the moment after the change; a repeated time the first of the
 * two.
 */
function toInstant(zone: string, local: number): number {
  const before = offsetMs(zone, local - dayMs);
  const after = offsetMs(zone, local + dayMs);
  const early = local - before;
  if (offsetMs(zone, early) === before) return early;
  const late = local - after;
  return offsetMs(zone, late) === after ? late : early;
}

const formats = new Map<string, Intl.DateTimeFormat>();

function offsetMs(zone: string, instantMs: number): number {
  const parts = formatOf(zone).formatToParts(instantMs);
  const part = (type: string) => Number(parts.find((each) => each.type === type)?.value);
  const local = Date.UTC(
    part('year'),
    part('month') - 1,
    part('day'),
    part('hour') % 24,
    part('minute'),
    part('second'),
  );
  return local - (instantMs - mod(instantMs, 1000));
}

function formatOf(zone: string): Intl.DateTimeFormat {
  const known = formats.get(zone);
  if (known !== undefined) return known;
  const number = 'numeric';
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: zone,
    calendar: 'gregory',
    numberingSystem: 'latn',
    hourCycle: 'h23',
    ...{ year: number, month: number, day: number, hour: number, minute: number, second: number },
  });
  formats.set(zone, format);
  return format;
}

function mod(value: number, by: number): number {
  return ((value % by) + by) % by;
}
