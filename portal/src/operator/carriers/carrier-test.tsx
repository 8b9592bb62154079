import { Button, Loader, Stack, TextInput } from '@mantine/core';
import { type FormEvent, useEffect, useRef, useState } from 'react';
import { call, operatorPath } from '../../api/call.ts';
import type { Carrier, CarrierTest } from '../../api/operator-types.ts';
import { useFilters } from '../../location.ts';
import { Icon } from '../../parts/icon.tsx';
import { Callout } from '../../parts/notice/callout.tsx';
import { ProblemCallout } from '../../parts/notice/problem-callout.tsx';
import { Panel } from '../../parts/panel.tsx';
import { useSession } from '../../session/session.tsx';
import { useAction } from '../../session/use-action.ts';
import { useLoad } from '../../session/use-load.ts';
import { words } from '../../words/operator/carriers.ts';
import styles from './carriers.module.css';
import { type ShownStep, shownSteps } from './test-steps.ts';

const inputs = ['to', 'from', 'message'];
const lookEveryMs = 500;
const testNumber = '+15005550100';

/** Tests a carrier with one text, and shows the progress. A link with `?test=open` leads to it. */
export function CarrierTestPanel({ carrier }: { carrier: Carrier }) {
  const { service } = useSession();
  const { values } = useFilters({ test: '' });
  const isAsked = values.test !== '';
  const panel = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!isAsked) return;
    panel.current?.scrollIntoView({ block: 'start' });
    panel.current?.querySelector('input')?.focus({ preventScroll: true });
  }, [isAsked]);
  const [to, setTo] = useState(service.environment === 'sandbox' ? testNumber : '');
  const [from, setFrom] = useState(words.test.sender);
  const [message, setMessage] = useState(words.test.sample);
  const [id, setId] = useState<string | undefined>(undefined);
  const path = operatorPath(`carriers/${carrier.name}/test`);
  const { run, busy, problem } = useAction(async () => {
    const started = await call<{ id: string }>('POST', path, { body: { to, from, message } });
    setId(started.id);
  });

  function submit(event: FormEvent): void {
    event.preventDefault();
    run();
  }

  return (
    <div ref={panel} className={styles.test}>
      <Panel title={words.test.title} lead={words.test.lead}>
        <Stack>
          <form className={styles.fields} onSubmit={submit} noValidate>
            <TextInput
              label={words.test.to}
              type="tel"
              value={to}
              onChange={(event) => setTo(event.currentTarget.value.trim())}
              error={problem?.of('to')}
            />
            <TextInput
              label={words.test.from}
              value={from}
              onChange={(event) => setFrom(event.currentTarget.value)}
              error={problem?.of('from')}
            />
            <TextInput
              label={words.test.message}
              className={styles.wide ?? ''}
              value={message}
              onChange={(event) => setMessage(event.currentTarget.value)}
              error={problem?.of('message')}
            />
            <div>
              <Button type="submit" loading={busy}>
                {words.test.submit(carrier.name)}
              </Button>
            </div>
          </form>
          <ProblemCallout problem={problem} fields={inputs} />
          {id !== undefined && <TestProgress key={id} path={`${path}/${id}`} carrier={carrier} />}
        </Stack>
      </Panel>
    </div>
  );
}

function TestProgress({ path, carrier }: { path: string; carrier: Carrier }) {
  const [ended, setEnded] = useState(false);
  const { data, problem, reload } = useLoad<CarrierTest>(path, ended ? undefined : lookEveryMs);
  const isOver = data?.status === 'passed' || data?.status === 'failed';
  if (isOver && !ended) setEnded(true);
  if (data === undefined) return <ProblemCallout problem={problem} onRetry={reload} />;
  return (
    <section aria-label={words.test.progress}>
      <ol className={styles.steps}>
        {shownSteps(data, carrier).map((step) => (
          <Step key={step.title} step={step} />
        ))}
      </ol>
      <div role="status" className={styles.outcome}>
        {data.status === 'passed' && <Callout tone="good" title={words.test.passed} />}
        {data.status === 'failed' && (
          <Callout tone="bad" quiet title={words.test.failed}>
            {data.error ?? words.test.failedNext}
          </Callout>
        )}
      </div>
    </section>
  );
}

function Step({ step: { title, state, detail, tookMs } }: { step: ShownStep }) {
  return (
    <li className={styles.step}>
      <span className={styles.mark} data-state={state}>
        {state === 'running' && <Loader size={14} />}
        {state === 'ok' && <Icon name="check" size={15} />}
        {state === 'failed' && <Icon name="cross" size={15} />}
      </span>
      <span>
        <strong>{title}</strong>
        <span className={styles.quiet}> {detail}</span>
      </span>
      <span className={styles.took}>{tookMs === undefined ? '' : words.test.took(tookMs)}</span>
    </li>
  );
}
