import { Button, Stack } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { call } from '../api/call.ts';
import type { HookTest as Tested } from '../api/types.ts';
import { Handset } from '../handset/handset.tsx';
import { ProblemCallout } from '../parts/notice/problem-callout.tsx';
import { Panel } from '../parts/panel.tsx';
import { usePageState } from '../session/page-state.ts';
import { useSession } from '../session/session.tsx';
import { useAction } from '../session/use-action.ts';
import { NumberField } from '../try/number-field.tsx';
import { words as allWords } from '../words/integrations.tsx';
import { HookCalls } from './hook-calls.tsx';
import styles from './hook-test.module.css';
import shared from './integrations.module.css';
import { OutcomeTag, reasonOf, SubjectLink } from './outcome.tsx';

const words = allWords.test;
const firstNumber = '+15005550100';

interface HookTestProps {
  applicationId: string;
  path: string;
}

/** Tests the hook with a code of our own, as if the server had called. In the sandbox the handset shows the text. */
export function HookTest({ applicationId, path }: HookTestProps) {
  const { service } = useSession();
  const sandbox = service.environment === 'sandbox';
  const [to, updateTo] = usePageState(`hook-number-${applicationId}`, sandbox ? firstNumber : '');
  const [number, setNumber] = useState(to);
  const [tested, setTested] = useState<{ to: string; result: Tested } | undefined>(undefined);
  const [round, setRound] = useState(0);
  const { run, busy, problem } = useAction(async () => {
    setTested(undefined);
    const result = await call<Tested>('POST', `${path}/test`, { body: { to: to.trim() } });
    setTested({ to: to.trim(), result });
    setNumber(to.trim());
    setRound((before) => before + 1);
  });

  function submit(event: FormEvent): void {
    event.preventDefault();
    run();
  }

  return (
    <div className={styles.test} data-handset={sandbox || undefined}>
      <div className={styles.form}>
        <Panel title={words.title} lead={words.lead[service.environment]}>
          <form onSubmit={submit} noValidate>
            <Stack>
              <NumberField
                value={to}
                onChange={(next) => updateTo(() => next)}
                hint={words.to[service.environment]}
                error={problem?.of('to')}
              />
              <div className={shared.outcome}>
                <Button type="submit" loading={busy}>
                  {words.submit}
                </Button>
                <span role="status" className={shared.said}>
                  {tested && <Outcome applicationId={applicationId} {...tested} sandbox={sandbox} />}
                </span>
              </div>
              <ProblemCallout problem={problem} fields={['to']} />
            </Stack>
          </form>
        </Panel>
      </div>
      {sandbox && (
        <div className={styles.handset}>
          <Handset applicationId={applicationId} number={number} onNumber={setNumber} />
        </div>
      )}
      <div className={styles.calls}>
        <HookCalls applicationId={applicationId} path={path} round={round} />
      </div>
    </div>
  );
}

interface OutcomeProps {
  applicationId: string;
  to: string;
  result: Tested;
  sandbox: boolean;
}

function Outcome({ applicationId, to, result, sandbox }: OutcomeProps) {
  const { outcome, subject } = result;
  return (
    <>
      <OutcomeTag outcome={outcome} /> {outcome === 'sent' && (sandbox ? words.arrived : words.sent(to))}{' '}
      {reasonOf(result)} {subject !== null && <SubjectLink applicationId={applicationId} subject={subject} />}
    </>
  );
}
