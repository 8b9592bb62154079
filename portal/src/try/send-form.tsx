import { Button, Group, Stack, Textarea, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import type { ApiName, ApplicationDetail } from '../api/types.ts';
import { useAction } from '../api/use-action.ts';
import { Icon } from '../parts/icon.tsx';
import { ProblemCallout } from '../parts/problem-callout.tsx';
import { NumberField } from './number-field.tsx';
import styles from './try-it.module.css';
import type { ApiClient } from './use-api-client.ts';

export interface FormProps {
  application: ApplicationDetail;
  client: ApiClient;
  to: string;
  setTo: (to: string) => void;
  /** Called with the number of each send. */
  onSent: (to: string) => void;
}

export function SendForm({ api, client, to, setTo, onSent }: FormProps & { api: ApiName }) {
  const [from, setFrom] = useState('ACME');
  const [message, setMessage] = useState('Hello from Heliograph');
  const { run, busy, problem } = useAction(async () => {
    onSent(to);
    await client.send(api, 'Send a text', `/${api}/v1/messages`, { to, from, message });
  });

  function submit(event: FormEvent): void {
    event.preventDefault();
    run();
  }

  return (
    <form onSubmit={submit} noValidate>
      <Stack>
        <div className={styles.fields}>
          <NumberField value={to} onChange={setTo} />
          <TextInput
            label="From"
            description="Up to 11 letters, or a number"
            value={from}
            onChange={(event) => setFrom(event.currentTarget.value)}
          />
        </div>
        <Textarea
          label="Message"
          rows={3}
          value={message}
          onChange={(event) => setMessage(event.currentTarget.value)}
        />
        <ProblemCallout problem={problem} />
        <Group>
          <Button type="submit" loading={busy} rightSection={<Icon name="arrow" size={16} />}>
            Send
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
