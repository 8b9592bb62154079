import { useEffect, useState } from 'react';
import { words } from '../words/try.tsx';
import { bodyOf, type Exchange, headerOf } from './exchange.ts';
import styles from './try-it.module.css';

/** The outcome of the last send, beside its button. The announcement below reports it to screen readers. */
export function ResultLine({ exchange }: { exchange: Exchange | undefined }) {
  const seconds = useSecondsLeft(exchange);
  if (exchange === undefined) return null;
  const tone = toneOf(exchange);
  return (
    <span className={styles.result} data-tone={tone}>
      {textOf(exchange, seconds)}
    </span>
  );
}

function toneOf({ answer }: Exchange): string {
  if (answer === null) return 'bad';
  if (answer.status === 429) return 'wait';
  return answer.status < 300 ? 'good' : 'bad';
}

function textOf({ answer, durationMs }: Exchange, seconds: number): string {
  if (answer === null) return words.result.none;
  if (answer.status === 429) return seconds > 0 ? words.result.retryIn(seconds) : words.result.retryNow;
  const state = bodyOf<{ status?: unknown }>(answer)?.status;
  const parts = [`${answer.status} ${answer.statusText}`.trim(), ...(typeof state === 'string' ? [state] : [])];
  return [...parts, words.ms(durationMs)].join(' · ');
}

/** Counts down the seconds until a retry is allowed. */
function useSecondsLeft(exchange: Exchange | undefined): number {
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
