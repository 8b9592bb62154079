import { words } from '../words/try.tsx';
import { bodyOf, type Exchange } from './exchange.ts';
import { toneOf } from './explain-response.ts';
import styles from './try-it.module.css';

interface ResultLineProps {
  exchange: Exchange | undefined;
  applicationId: string;
}

/** The outcome of the last send, beside its button. The announcement below reports it to screen readers. */
export function ResultLine({ exchange, applicationId }: ResultLineProps) {
  if (exchange === undefined) return null;
  return (
    <span className={styles.result} data-tone={toneOf(exchange)}>
      {textOf(exchange)}
      {exchange.answer?.status === 429 && <> · {words.result.plans(`/applications/${applicationId}`)}</>}
    </span>
  );
}

function textOf({ answer, durationMs }: Exchange): string {
  if (answer === null) return words.result.none;
  if (answer.status === 429) return words.result.limited;
  const state = bodyOf<{ status?: unknown }>(answer)?.status;
  const parts = [`${answer.status} ${answer.statusText}`.trim(), ...(typeof state === 'string' ? [state] : [])];
  return [...parts, words.ms(durationMs)].join(' · ');
}
