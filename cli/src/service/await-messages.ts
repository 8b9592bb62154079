import type { Heliograph, Message } from '../../../sdk/src/index.ts';
import { sleep } from '../../../sdk/src/waiting.ts';

const firstPauseMs = 200;
const longestPauseMs = 5000;

/** Nothing more comes after these. */
const endStates = ['delivered', 'undelivered', 'failed', 'expired', 'canceled', 'unknown'];

export function hasEnded({ status }: Pick<Message, 'status'>): boolean {
  return endStates.includes(status);
}

/**
 * Reads texts until each has its outcome or the time is over, less and less often: every read counts against the plan.
 * Returns them in their order, as they were last.
 */
export async function awaitMessages(
  api: Heliograph['sms'],
  messages: readonly Message[],
  { untilMs, signal, onChange }: { untilMs: number; signal: AbortSignal; onChange: (all: readonly Message[]) => void },
): Promise<Message[]> {
  const latest = [...messages];
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(longestPauseMs, pauseMs * 1.5)) {
    const open = latest.flatMap((message, place) => (hasEnded(message) ? [] : [place]));
    if (open.length === 0 || Date.now() >= untilMs) return latest;
    await sleep(Math.max(0, Math.min(Math.max(pauseMs, open.length * 50), untilMs - Date.now())), signal);
    for (const place of open) {
      const message = latest[place];
      if (message === undefined) continue;
      latest[place] = await api.get(message.id, { signal });
      onChange(latest);
    }
  }
}
