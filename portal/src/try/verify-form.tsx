import { Button, Group, Stack, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import type { Verification } from '../api/record-types.ts';
import { useAction } from '../api/use-action.ts';
import { Icon } from '../parts/icon.tsx';
import { ProblemNote } from '../parts/problem-note.tsx';
import type { Keep } from '../session/kept.ts';
import { CheckForm } from './check-form.tsx';
import { NumberField } from './number-field.tsx';
import type { FormProps } from './send-form.tsx';
import type { Trial } from './trial.ts';
import styles from './try-it.module.css';
import { bodyOf } from './wire.ts';

interface VerifyFormProps extends FormProps {
  trial: Trial;
  keepTrial: Keep<Trial>;
}

/** A whole verification: start it, read the code on the handset, check it. */
export function VerifyForm({ caller, to, setTo, onSent, trial, keepTrial }: VerifyFormProps) {
  const [domain, setDomain] = useState('');
  const { run, busy, problem } = useAction(async () => {
    onSent(to);
    const autofill = domain === '' ? {} : { autofill: { domain } };
    const body = { to, channel: 'sms', ...autofill };
    const { answer } = await caller.send('verify', 'Start a verification', '/verify/v1/verifications', body);
    const started = answer?.status === 200 ? bodyOf<Verification>(answer) : undefined;
    if (started) keepTrial(() => ({ id: started.id, code: '', outcome: started }));
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
          <ProblemNote problem={problem} />
          <Group>
            <Button type="submit" loading={busy} rightSection={<Icon name="arrow" size={16} />}>
              {trial.id === '' ? 'Send the code' : 'Send a code again'}
            </Button>
          </Group>
        </Stack>
      </form>
      {trial.id !== '' && <CheckForm caller={caller} trial={trial} keepTrial={keepTrial} />}
    </Stack>
  );
}
