import { Button, NativeSelect, Stack, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { apis } from '../../api/apis.ts';
import { call, operatorPath } from '../../api/call.ts';
import type { RouteExplanation, RouteRule } from '../../api/operator-types.ts';
import { useAction } from '../../api/use-action.ts';
import { Callout } from '../../parts/callout.tsx';
import { Check } from '../../parts/check.tsx';
import { Panel } from '../../parts/panel.tsx';
import { ProblemCallout } from '../../parts/problem-callout.tsx';
import { Status } from '../../parts/status.tsx';
import { Time } from '../../parts/time.tsx';
import styles from './routes.module.css';

interface ExplainPanelProps {
  /** The unsaved list, if it differs from the saved one. */
  draft: RouteRule[] | undefined;
  onExplained: (explanation: RouteExplanation) => void;
}

const inputs = ['to', 'from', 'api', 'application_id', 'message_id'];

/** Says where a text would go and why; or, by its id, why a text went where it did. */
export function ExplainPanel({ draft, onExplained }: ExplainPanelProps) {
  const [text, setText] = useState({ to: '', from: '', api: 'sms', application_id: '', message_id: '' });
  const [withDraft, setWithDraft] = useState(true);
  const [explanation, setExplanation] = useState<RouteExplanation | undefined>(undefined);
  const { run, busy, problem } = useAction(async () => {
    // A text that was sent brings all its facts along.
    const asked = text.message_id === '' ? text : { message_id: text.message_id };
    const given = Object.fromEntries(Object.entries(asked).filter(([, value]) => value !== ''));
    const body = { ...given, ...(draft !== undefined && withDraft && { routes: draft }) };
    const found = await call<RouteExplanation>('POST', operatorPath('routes/explain'), { body });
    setExplanation(found);
    onExplained(found);
  });

  function submit(event: FormEvent): void {
    event.preventDefault();
    run();
  }

  const field = (name: keyof typeof text) => ({
    value: text[name],
    onChange: (event: { currentTarget: { value: string } }) =>
      setText({ ...text, [name]: event.currentTarget.value.trim() }),
    error: problem?.of(name),
  });
  return (
    <Panel title="Explain" lead="Where would this text go, and why? Nothing is sent.">
      <form onSubmit={submit} noValidate>
        <Stack>
          <TextInput label="To" type="tel" placeholder="+447700900123" {...field('to')} />
          <TextInput label="From" placeholder="ACME" {...field('from')} />
          <NativeSelect
            label="API"
            data={apis.map(({ name, title }) => ({ value: name, label: title }))}
            {...field('api')}
          />
          <TextInput label="Application id" placeholder="Any" {...field('application_id')} />
          <TextInput
            label="Message id"
            description="To learn why a text went where it did; nothing else is needed then."
            placeholder="msg_…"
            {...field('message_id')}
          />
          {draft !== undefined && <Check label="By the unsaved rules" checked={withDraft} onChange={setWithDraft} />}
          <Button type="submit" variant="default" loading={busy}>
            Explain
          </Button>
          <ProblemCallout problem={problem} fields={inputs} />
        </Stack>
      </form>
      {explanation !== undefined && <Explanation explanation={explanation} />}
    </Panel>
  );
}

const outcomes: Record<string, string> = {
  no_carrier: 'No carrier is configured: the service refuses every text.',
  unroutable: 'No rule leads to this number: the service refuses the text.',
};

function Explanation({ explanation }: { explanation: RouteExplanation }) {
  const { outcome, rule, from, deferred_until, candidates, chosen, carrier: holder } = explanation;
  return (
    <section aria-label="Explanation" aria-live="polite">
      <Stack mt="lg">
        {outcomes[outcome] !== undefined && <Callout tone="bad" quiet title={outcomes[outcome] ?? outcome} />}
        {outcome === 'routed' && (
          <p className={styles.text}>{rule === null ? 'There are no rules.' : `The rule ${rule.name} takes it.`}</p>
        )}
        {from !== null && <p className={styles.text}>Sent as {from}.</p>}
        {deferred_until !== null && (
          <p className={styles.text}>
            It waits until <Time at={deferred_until} />.
          </p>
        )}
        {holder !== null && <p className={styles.text}>{holder} has the text.</p>}
        <ol className={styles.candidates}>
          {candidates.map(({ carrier, group, available, share, reason }) => (
            <li key={carrier} className={styles.candidate} data-chosen={carrier === chosen || undefined}>
              <div className={styles.candidateHead}>
                <strong>
                  {carrier}
                  {group === 'failover' && ' (failover)'}
                </strong>
                <span>
                  {Math.round(share * 100)} % <Status state={available ? 'up' : 'down'} />
                </span>
              </div>
              <p className={styles.text}>{reason}</p>
            </li>
          ))}
        </ol>
      </Stack>
    </section>
  );
}
