import { Button, Group, Stack, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import type { Verification } from '../api/record-types.ts';
import { useAction } from '../api/use-action.ts';
import { Icon } from '../parts/icon.tsx';
import { ProblemCallout } from '../parts/problem-callout.tsx';
import type { Update } from '../session/page-state.ts';
import { CheckForm } from './check-form.tsx';
import { bodyOf } from './exchange.ts';
import { NumberField } from './number-field.tsx';
import type { FormProps } from './send-form.tsx';
import styles from './try-it.module.css';
import type { VerifyState } from './verify-state.ts';

interface VerifyFormProps extends FormProps {
  state: VerifyState;
  updateState: Update<VerifyState>;
}

/** Starts a verification and checks its code. */
export function VerifyForm({ client, to, setTo, onSent, state, updateState }: VerifyFormProps) {
  const [domain, setDomain] = useState('');
  const { run, busy, problem } = useAction(async () => {
    onSent(to);
    const autofill = domain === '' ? {} : { autofill: { domain } };
    const body = { to, channel: 'sms', ...autofill };
    const { answer } = await client.send('verify', 'Start a verification', '/verify/v1/verifications', body);
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
              label="Autofill domain (optional)"
              description="Lets a phone fill in the code on that site"
              placeholder="example.com"
              value={domain}
              onChange={(event) => setDomain(event.currentTarget.value.trim())}
            />
          </div>
          <ProblemCallout problem={problem} />
          <Group>
            <Button type="submit" loading={busy} rightSection={<Icon name="arrow" size={16} />}>
              {state.id === '' ? 'Send the code' : 'Send the code again'}
            </Button>
          </Group>
        </Stack>
      </form>
      {state.id !== '' && <CheckForm client={client} state={state} updateState={updateState} />}
    </Stack>
  );
}
