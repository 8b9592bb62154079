import { Group, Stack, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import type { Verification } from '../api/record-types.ts';
import { ProblemCallout } from '../parts/notice/problem-callout.tsx';
import type { Update } from '../session/page-state.ts';
import { useAction } from '../session/use-action.ts';
import { words } from '../words/try.tsx';
import { CheckForm } from './check-form.tsx';
import { bodyOf, type Exchange } from './exchange.ts';
import { NumberField } from './number-field.tsx';
import { ResultLine } from './result-line.tsx';
import { SendButton } from './send-button.tsx';
import type { FormProps } from './send-form.tsx';
import styles from './try-it.module.css';
import type { VerifyState } from './verify-state.ts';

interface VerifyFormProps extends FormProps {
  state: VerifyState;
  updateState: Update<VerifyState>;
}

/** Starts a verification and checks its code. */
export function VerifyForm({ application, client, to, setTo, onSent, state, updateState }: VerifyFormProps) {
  const [domain, setDomain] = useState('');
  const [result, setResult] = useState<Exchange | undefined>(undefined);
  const { run, busy, problem } = useAction(async () => {
    onSent(to);
    const autofill = domain === '' ? {} : { autofill: { domain } };
    const body = { to, channel: 'sms', ...autofill };
    const exchange = await client.send('verify', words.verify.start, '/verify/v1/verifications', body);
    setResult(exchange);
    const { answer } = exchange;
    const started = answer?.status === 200 ? bodyOf<Verification>(answer) : undefined;
    if (started) updateState(() => ({ id: started.id, code: '', outcome: started }));
  });

  function submit(event: FormEvent): void {
    event.preventDefault();
    run();
  }

  return (
    <Stack>
      <form onSubmit={submit} noValidate>
        <Stack>
          <div className={styles.fields}>
            <NumberField value={to} onChange={setTo} />
            <TextInput
              label={words.verify.domain}
              description={words.verify.domainDetail}
              placeholder={words.verify.domainExample}
              value={domain}
              onChange={(event) => setDomain(event.currentTarget.value.trim())}
            />
          </div>
          <ProblemCallout problem={problem} />
          <Group>
            <SendButton
              label={state.id === '' ? words.verify.send : words.verify.sendAgain}
              busy={busy}
              last={result}
              arrow
            />
            {!busy && <ResultLine exchange={result} applicationId={application.id} />}
          </Group>
        </Stack>
      </form>
      {state.id !== '' && (
        <CheckForm applicationId={application.id} client={client} state={state} updateState={updateState} />
      )}
    </Stack>
  );
}
