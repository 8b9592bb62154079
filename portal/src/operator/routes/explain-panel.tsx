import { Button, NativeSelect, Stack, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { apis } from '../../api/apis.ts';
import { call, operatorPath } from '../../api/call.ts';
import type { RouteExplanation, RouteRule } from '../../api/operator-types.ts';
import { Check } from '../../parts/check.tsx';
import { Callout } from '../../parts/notice/callout.tsx';
import { ProblemCallout } from '../../parts/notice/problem-callout.tsx';
import { Panel } from '../../parts/panel.tsx';
import { Status } from '../../parts/status.tsx';
import { Time } from '../../parts/time.tsx';
import { useAction } from '../../session/use-action.ts';
import { words } from '../../words/operator/routes.ts';
import { ApplicationField } from '../application-field.tsx';
import styles from './routes.module.css';

interface ExplainPanelProps {
  /** The unsaved list, if it differs from the saved one. */
  draft: RouteRule[] | undefined;
  onExplained: (explanation: RouteExplanation) => void;
}

const inputs = ['to', 'from', 'api', 'application_id', 'message_id'];

/** Explains which carrier a text would get, or, by its id, why a text got its carrier. */
export function ExplainPanel({ draft, onExplained }: ExplainPanelProps) {
  const [text, setText] = useState({ to: '', from: '', api: 'sms', application_id: '', message_id: '' });
  const [withDraft, setWithDraft] = useState(true);
  const [explanation, setExplanation] = useState<RouteExplanation | undefined>(undefined);
  const { run, busy, problem } = useAction(async () => {
    // For a sent text its id is enough: the service knows the other facts.
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
    <Panel title={words.explain.title} lead={words.explain.lead}>
      <form onSubmit={submit} noValidate>
        <Stack>
          <TextInput label={words.explain.to} type="tel" placeholder="+447700900123" {...field('to')} />
          <TextInput label={words.explain.from} placeholder={words.explain.fromExample} {...field('from')} />
          <NativeSelect
            label={words.explain.api}
            data={apis.map(({ name, title }) => ({ value: name, label: title }))}
            {...field('api')}
          />
          <ApplicationField
            placeholder={words.explain.any}
            value={text.application_id}
            onChange={(application_id) => setText({ ...text, application_id })}
            error={problem?.of('application_id')}
          />
          <TextInput
            label={words.explain.messageId}
            description={words.explain.messageIdRule}
            placeholder={words.explain.messageIdExample}
            {...field('message_id')}
          />
          {draft !== undefined && <Check label={words.explain.withDraft} checked={withDraft} onChange={setWithDraft} />}
          <Button type="submit" variant="default" loading={busy}>
            {words.explain.submit}
          </Button>
          <ProblemCallout problem={problem} fields={inputs} />
        </Stack>
      </form>
      {explanation !== undefined && <Explanation explanation={explanation} />}
    </Panel>
  );
}

const outcomes: Record<string, string> = {
  no_carrier: words.explain.noCarrier,
  unroutable: words.explain.unroutable,
};

function Explanation({ explanation }: { explanation: RouteExplanation }) {
  const { outcome, rule, from, deferred_until, candidates, chosen, carrier: holder } = explanation;
  return (
    <section aria-label={words.explain.result} aria-live="polite">
      <Stack mt="lg">
        {outcomes[outcome] !== undefined && <Callout tone="bad" quiet title={outcomes[outcome] ?? outcome} />}
        {outcome === 'routed' && (
          <p className={styles.text}>{rule === null ? words.explain.noRules : words.explain.rule(rule.name)}</p>
        )}
        {from !== null && <p className={styles.text}>{words.explain.sentAs(from)}</p>}
        {deferred_until !== null && (
          <p className={styles.text}>
            {words.explain.deferred} <Time at={deferred_until} />.
          </p>
        )}
        {holder !== null && <p className={styles.text}>{words.explain.holder(holder)}</p>}
        <ol className={styles.candidates}>
          {candidates.map(({ carrier, group, available, share, reason }) => (
            <li key={carrier} className={styles.candidate} data-chosen={carrier === chosen || undefined}>
              <div className={styles.candidateHead}>
                <strong>
                  {carrier}
                  {group === 'failover' && ` ${words.explain.failover}`}
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
