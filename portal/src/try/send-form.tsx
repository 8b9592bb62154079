import { Group, Stack, Textarea, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import type { ApiName, ApplicationDetail } from '../api/types.ts';
import { ProblemCallout } from '../parts/notice/problem-callout.tsx';
import { useAction } from '../session/use-action.ts';
import { words } from '../words/try.tsx';
import type { Exchange } from './exchange.ts';
import { NumberField } from './number-field.tsx';
import { ResultLine } from './result-line.tsx';
import { SendButton } from './send-button.tsx';
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

export function SendForm({ api, application, client, to, setTo, onSent }: FormProps & { api: ApiName }) {
  const [from, setFrom] = useState('ACME');
  const [message, setMessage] = useState(words.form.sample);
  const [result, setResult] = useState<Exchange | undefined>(undefined);
  const { run, busy, problem } = useAction(async () => {
    onSent(to);
    setResult(await client.send(api, words.form.send, `/${api}/v1/messages`, { to, from, message }));
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
            label={words.form.from}
            description={words.form.fromRule}
            value={from}
            onChange={(event) => setFrom(event.currentTarget.value)}
          />
        </div>
        <Textarea
          label={words.form.message}
          rows={3}
          value={message}
          onChange={(event) => setMessage(event.currentTarget.value)}
        />
        <ProblemCallout problem={problem} />
        <Group>
          <SendButton label={words.form.submit} busy={busy} last={result} arrow />
          {!busy && <ResultLine exchange={result} applicationId={application.id} />}
        </Group>
      </Stack>
    </form>
  );
}
