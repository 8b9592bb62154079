import { Button, Textarea, TextInput, VisuallyHidden } from '@mantine/core';
import { type FormEvent, useEffect, useRef, useState } from 'react';
import { Callout } from '../../parts/notice/callout.tsx';
import { useSession } from '../../session/session.tsx';
import { useAction } from '../../session/use-action.ts';
import { bodyOf, type Exchange } from '../../try/exchange.ts';
import { ExchangeView } from '../../try/exchange-view.tsx';
import { explainResponse } from '../../try/explain-response.ts';
import { words } from '../../words/docs.tsx';
import { useCredentials } from '../credentials.ts';
import type { Operation } from '../model/operations.ts';
import { CredentialFields, isFilledIn } from '../operation/credential-fields.tsx';
import { newIdempotencyKey, rememberIds } from '../operation/use-values.ts';
import type { Values } from '../samples/make-request.ts';
import type { SampleRequest } from '../samples/request.ts';
import { send } from './send.ts';
import { TraceLink } from './trace-link.tsx';
import styles from './try-panel.module.css';

interface TryPanelProps {
  operation: Operation;
  values: Values;
  change: (change: Partial<Values>) => void;
  /** Undefined while the body is not valid JSON. */
  request: SampleRequest | undefined;
}

/** A form that sends the request to this service. It sends only when the reader presses the button. */
export function TryPanel({ operation, values, change, request }: TryPanelProps) {
  const { service } = useSession();
  const [credentials] = useCredentials();
  const [exchanges, setExchanges] = useState<Exchange[]>([]);
  const panel = useRef<HTMLElement>(null);
  const [kind] = operation.credentials;
  const { run, busy } = useAction(async () => {
    if (request === undefined) return;
    const made = await send(request);
    setExchanges(made);
    const answer = made[0]?.answer;
    if (!answer || answer.status >= 300) return;
    rememberIds(bodyOf(answer));
    // The next call needs a new idempotency key.
    const key = keyOf('header', 'Idempotency-Key');
    if (key in values.parameters) change({ parameters: { ...values.parameters, [key]: newIdempotencyKey() } });
  });
  useEffect(() => panel.current?.querySelector('input')?.focus({ preventScroll: true }), []);

  function submit(event: FormEvent): void {
    event.preventDefault();
    run();
  }

  const filledIn = isFilledIn(kind, credentials);
  const [newest] = exchanges;
  return (
    <section className={styles.panel} aria-labelledby="try-title" ref={panel}>
      <h2 className={styles.title} id="try-title">
        {words.operation.tryIt}
      </h2>
      <form onSubmit={submit} noValidate>
        <div className={styles.fields}>
          <CredentialFields kind={kind} />
          <ParameterFields operation={operation} values={values} change={change} />
        </div>
        {operation.body !== undefined && (
          <Textarea
            label={operation.body.kind === 'form' ? words.try.form : words.try.body}
            autosize
            minRows={3}
            maxRows={18}
            mt={12}
            spellCheck={false}
            classNames={{ input: styles.body ?? '' }}
            value={values.body}
            onChange={(event) => change({ body: event.currentTarget.value })}
            error={request === undefined ? words.try.notJson : undefined}
          />
        )}
        <div className={styles.foot}>
          <Button type="submit" loading={busy} disabled={request === undefined || !filledIn}>
            {words.try.send}
          </Button>
          <span className={styles.note}>
            {filledIn ? whereItGoes(service.environment, operation.method) : words.try.credentialFirst}
          </span>
        </div>
      </form>
      {kind === 'session' && <Callout tone="calm">{words.try.session}</Callout>}
      {newest !== undefined && (
        <div className={styles.exchanges}>
          <VisuallyHidden role="status">{explainResponse(newest).title}</VisuallyHidden>
          {exchanges.map((exchange, index) => (
            <ExchangeView
              key={exchange.id}
              exchange={exchange}
              open={index === 0}
              trace={(correlationId) => <TraceLink correlationId={correlationId} />}
            />
          ))}
        </div>
      )}
    </section>
  );
}

function whereItGoes(environment: string, method: string): string {
  const isRead = method === 'GET';
  if (environment === 'sandbox') return isRead ? words.try.readSandbox : words.try.sandbox;
  return isRead ? words.try.read : words.try.production;
}

/** The key that a form's values are kept under. */
function keyOf(place: string, name: string): string {
  return `${place} ${name}`;
}

function ParameterFields({ operation, values, change }: Omit<TryPanelProps, 'request'>) {
  return operation.parameters.map(({ place, field, example }) => {
    const key = keyOf(place, field.name);
    return (
      <TextInput
        key={key}
        label={field.name}
        withAsterisk={field.required}
        placeholder={field.required ? '' : (field.default ?? example)}
        autoComplete="off"
        value={values.parameters[key] ?? ''}
        onChange={(event) => change({ parameters: { ...values.parameters, [key]: event.currentTarget.value } })}
      />
    );
  });
}
