import { useEffect, useState } from 'react';
import { type Exchange, headerOf } from './exchange.ts';

/** Counts down the seconds until the limits admit another call; 0 unless the last one got a 429. */
export function useSecondsLeft(exchange: Exchange | undefined): number {
  const [nowMs, setNowMs] = useState(() => Date.now());
  const untilMs = retryAtMs(exchange);
  useEffect(() => {
    setNowMs(Date.now());
    const timer = setInterval(() => {
      setNowMs(Date.now());
      if (Date.now() >= untilMs) clearInterval(timer);
    }, 1000);
    return () => clearInterval(timer);
  }, [untilMs]);
  return Math.max(0, Math.ceil((untilMs - nowMs) / 1000));
}

function retryAtMs(exchange: Exchange | undefined): number {
  const answer = exchange?.answer ?? undefined;
  if (exchange === undefined || answer?.status !== 429) return 0;
  return exchange.endedAtMs + Number(headerOf(answer, 'retry-after') ?? 1) * 1000;
}
