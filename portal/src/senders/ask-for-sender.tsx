import { Button, Modal, Stack, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { call } from '../api/call.ts';
import type { SenderRecord } from '../api/operator-types.ts';
import { useAction } from '../api/use-action.ts';
import { ProblemCallout } from '../parts/problem-callout.tsx';
import { useToast } from '../parts/toast.tsx';

interface AskForSenderProps {
  path: string;
  onClose: () => void;
  onAsked: () => void;
}

export function AskForSender({ path, onClose, onAsked }: AskForSenderProps) {
  const showToast = useToast();
  const [sender, setSender] = useState('');
  const [countries, setCountries] = useState('');
  const { run, busy, problem } = useAction(async () => {
    const codes = countries
      .toUpperCase()
      .split(/[\s,]+/)
      .filter((code) => code !== '');
    const made = await call<SenderRecord>('POST', path, { body: { sender: sender.trim(), countries: codes } });
    showToast(made.status === 'approved' ? `${made.sender} is yours.` : `An operator will look at ${made.sender}.`);
    onAsked();
  });

  function submit(event: FormEvent): void {
    event.preventDefault();
    run();
  }

  return (
    <Modal opened onClose={onClose} title="Ask for a sender" centered closeButtonProps={{ 'aria-label': 'Close' }}>
      <form onSubmit={submit} noValidate>
        <Stack>
          <TextInput
            label="Sender"
            description="A name of up to 11 characters, or a number with a plus."
            placeholder="ACME"
            data-autofocus
            value={sender}
            onChange={(event) => setSender(event.currentTarget.value)}
            error={problem?.of('sender')}
          />
          <TextInput
            label="Countries"
            description="Codes of the countries you send to. Empty means all."
            placeholder="GB, FR"
            value={countries}
            onChange={(event) => setCountries(event.currentTarget.value)}
            error={problem?.of('countries')}
          />
          <ProblemCallout problem={problem} fields={['sender', 'countries']} />
          <Button type="submit" loading={busy}>
            Ask for it
          </Button>
        </Stack>
      </form>
    </Modal>
  );
}
