import type { Heliograph, Message } from '../../../sdk/src/index.ts';
import { sleep } from '../../../sdk/src/waiting.ts';

const firstPauseMs = 200;
const longestPauseMs = 5000;

/** Final statuses. */
const endStates = ['delivered', 'undelivered', 'failed', 'expired', 'canceled', 'unknown'];

export function hasEnded({ status }: Pick<Message, 'status'>): boolean {
  return endStates.includes(status);
}

/**
 * Polls texts until each has an outcome or the time is over, less often over time, because reads count against the plan.
 * Returns the latest records in the same order.
 */
export async function awaitMessages(
  api: Heliograph['sms'],
  messages: readonly Message[],
  { untilMs, signal, onChange }: { untilMs: number; signal: AbortSignal; onChange: (all: readonly Message[]) => void },
): Promise<Message[]> {
  const latest = [...messages];
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(longestPauseMs, pauseMs * 1.5)) {
    const open = latest.flatMap((message, index) => (hasEnded(message) ? [] : [index]));
    if (open.length === 0 || Date.now() >= untilMs) return latest;
    await sleep(Math.max(0, Math.min(Math.max(pauseMs, open.length * 50), untilMs - Date.now())), signal);
    for (const index of open) {
      const message = latest[index];
      if (message === undefined) continue;
      latest[index] = await api.get(message.id, { signal });
      onChange(latest);
    }
  }
}
