import { words as queueWords } from '../../words/operator/queue.ts';

/** A waiting time in the most readable unit. */
export function ageText(seconds: number): string {
  if (seconds < 120) return queueWords.seconds(seconds);
  if (seconds < 7200) return queueWords.minutes(Math.floor(seconds / 60));
  return queueWords.hours(Math.floor(seconds / 3600));
}
