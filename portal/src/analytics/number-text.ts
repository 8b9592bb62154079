import { words } from '../words/chart.ts';

const count = new Intl.NumberFormat();
const percent = new Intl.NumberFormat(undefined, { style: 'percent', maximumFractionDigits: 1 });
const number = new Intl.NumberFormat(undefined, { maximumFractionDigits: 1 });
/** Slower texts are counted together. */
const longestSeconds = 1800;
const unknown = '–';

export function countText(value: number): string {
  return count.format(value);
}

export function percentText(share: number | null): string {
  return share === null ? unknown : percent.format(share);
}

/** A time to the phone. The service counts in steps, so it is an upper bound. */
export function secondsText(seconds: number | null): string {
  if (seconds === null) return unknown;
  if (seconds > longestSeconds) return words.over(words.minutes(number.format(longestSeconds / 60)));
  if (seconds >= 120) return words.minutes(number.format(seconds / 60));
  return words.seconds(number.format(seconds));
}
