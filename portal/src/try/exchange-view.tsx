import { Button } from '@mantine/core';
import { useState } from 'react';
import { Link } from 'wouter';
import { Note } from '../parts/note.tsx';
import { HttpStatus } from '../parts/status.tsx';
import styles from './exchange-view.module.css';
import { verdictOf } from './verdict.ts';
import { type Exchange, headerOf } from './wire.ts';

interface ExchangeViewProps {
  exchange: Exchange;
  applicationId: string;
  open: boolean;
}

export function ExchangeView({ exchange, applicationId, open }: ExchangeViewProps) {
  const { request, answer, title, durationMs } = exchange;
  const [revealed, setRevealed] = useState(false);
  const shown = (text: string) => (revealed ? text : masked(text, exchange.secrets));
  const correlationId = answer === null ? undefined : headerOf(answer, 'x-correlation-id');
  const { tone, title: verdict, hint } = verdictOf(exchange);
  return (
    <details className={styles.exchange} open={open} aria-label={title}>
      <summary className={styles.summary}>
        <strong>{title}</strong>
        {answer !== null && <HttpStatus status={answer.status} />}
        <span className={styles.quiet}>{Math.round(durationMs)} ms</span>
      </summary>
      <div className={styles.content}>
        <Note tone={tone} title={verdict} quiet>
          {hint}
        </Note>
        <div className={styles.foot}>
          {correlationId !== undefined && (
            <span className={styles.quiet}>
              Correlation id{' '}
              <Link href={`/applications/${applicationId}/requests/${correlationId}`}>
                <code>{correlationId}</code>
              </Link>
            </span>
          )}
          <Button variant="default" size="xs" aria-pressed={revealed} onClick={() => setRevealed(!revealed)}>
            {revealed ? 'Hide the secret' : 'Reveal the secret'}
          </Button>
        </div>
        <Wire
          label="Request"
          line={`${request.method} ${location.origin}${request.path}`}
          headers={Object.entries(request.headers).map(([name, value]) => [name, shown(value)])}
          body={shown(request.body)}
        />
        {answer !== null && (
          <Wire
            label="Response"
            line={`HTTP ${answer.status} ${answer.statusText}`}
            headers={answer.headers}
            body={shown(indented(answer.body))}
          />
        )}
      </div>
    </details>
  );
}

interface WireProps {
  label: string;
  line: string;
  headers: [string, string][];
  body: string;
}

const noticed = /^(ratelimit|retry-after|x-correlation-id)/;

function Wire({ label, line, headers, body }: WireProps) {
  return (
    <section aria-label={label}>
      <h3 className={styles.label}>{label}</h3>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what can be scrolled must be reachable by keyboard. */}
      <pre className={styles.wire} tabIndex={0}>
        <span className={styles.line}>{line}</span>
        {headers.map(([name, value]) => (
          <span key={name} className={styles.header} data-noticed={noticed.test(name.toLowerCase()) || undefined}>
            <span className={styles.name}>{name}:</span> {value}
          </span>
        ))}
        <span className={styles.body}>{body}</span>
      </pre>
    </section>
  );
}

/** Enough of a secret to know it by. */
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
