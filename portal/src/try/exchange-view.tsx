import { Button } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { CopyTextButton } from '../parts/copy-button.tsx';
import { Callout } from '../parts/notice/callout.tsx';
import { HttpStatus } from '../parts/status.tsx';
import { words } from '../words/try.tsx';
import { curlOf } from './curl.ts';
import { type Exchange, headerOf } from './exchange.ts';
import styles from './exchange-view.module.css';
import { explainResponse } from './explain-response.ts';

interface ExchangeViewProps {
  exchange: Exchange;
  open: boolean;
  /** Shows the correlation id as a link to the trace of the request. */
  trace: (correlationId: string) => ReactNode;
}

export function ExchangeView({ exchange, open, trace }: ExchangeViewProps) {
  const { request, answer, title, durationMs } = exchange;
  const [revealed, setRevealed] = useState(false);
  const shown = (text: string) => (revealed ? text : masked(text, exchange.secrets));
  const correlationId = answer === null ? undefined : headerOf(answer, 'x-correlation-id');
  const { tone, title: outcome, hint } = explainResponse(exchange);
  return (
    <details className={styles.exchange} open={open} aria-label={title}>
      <summary className={styles.summary}>
        <strong>{title}</strong>
        {answer !== null && <HttpStatus status={answer.status} />}
        <span className={styles.quiet}>{words.ms(durationMs)}</span>
      </summary>
      <div className={styles.content}>
        <Callout tone={tone} title={outcome} quiet>
          {hint}
        </Callout>
        <div className={styles.foot}>
          {correlationId !== undefined && (
            <span className={styles.quiet}>{words.exchange.correlationId(trace(correlationId))}</span>
          )}
          <div className={styles.buttons}>
            <CopyTextButton text={curlOf(request, location.origin)} label={words.exchange.copyCurl} />
            {answer !== null && <CopyTextButton text={answer.body} label={words.exchange.copyResponse} />}
            {exchange.secrets.some((secret) => secret !== '') && (
              <Button variant="default" size="xs" aria-pressed={revealed} onClick={() => setRevealed(!revealed)}>
                {revealed ? words.exchange.hide : words.exchange.reveal}
              </Button>
            )}
          </div>
        </div>
        <HttpMessage
          label={words.exchange.request}
          line={`${request.method} ${location.origin}${request.path}`}
          headers={Object.entries(request.headers).map(([name, value]) => [name, shown(value)])}
          body={shown(request.body)}
        />
        {answer !== null && (
          <HttpMessage
            label={words.exchange.response}
            line={`HTTP ${answer.status} ${answer.statusText}`}
            headers={answer.headers}
            body={shown(indented(answer.body))}
          />
        )}
      </div>
    </details>
  );
}

interface HttpMessageProps {
  label: string;
  line: string;
  headers: [string, string][];
  body: string;
}

const highlighted = /^(ratelimit|retry-after|x-correlation-id)/;

function HttpMessage({ label, line, headers, body }: HttpMessageProps) {
  return (
    <section aria-label={label}>
      <h3 className={styles.label}>{label}</h3>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable area must be reachable by keyboard. */}
      <pre className={styles.message} tabIndex={0}>
        <span className={styles.line}>{line}</span>
        {headers.map(([name, value]) => (
          <span
            key={name}
            className={styles.header}
            data-highlighted={highlighted.test(name.toLowerCase()) || undefined}
          >
            <span className={styles.name}>{name}:</span> {value}
          </span>
        ))}
        <span className={styles.body}>{body}</span>
      </pre>
    </section>
  );
}

/** Hides secrets except for their last four characters. */
function masked(text: string, secrets: string[]): string {
  return secrets
    .filter((secret) => secret !== '')
    .reduce((rest, secret) => rest.replaceAll(secret, `••••••••${secret.slice(-4)}`), text);
}

function indented(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), null, 2);
  } catch {
    return body;
  }
}
