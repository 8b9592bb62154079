import type { Log } from '../../platform/log.ts';
import { type BindState, canSend } from './bind-store.ts';

/** Logs once when a bind of a carrier comes up, and once when it is lost or refused, however often it is tried. */
export function createBindNews(carrier: string, log: Log): (binds: BindState[]) => void {
  const logged = new Map<number, 'up' | 'down'>();
  return (binds) => {
    for (const bind of binds) {
      const { slot, host, error } = bind;
      const news = canSend(bind) ? 'up' : error === null ? undefined : 'down';
      if (news === undefined || news === logged.get(slot)) continue;
      logged.set(slot, news);
      if (news === 'up') log.info({ carrier, bind: slot, host }, 'a carrier is connected');
      else log.warn({ carrier, bind: slot, reason: error }, 'a carrier is not connected; will retry');
    }
  };
}
