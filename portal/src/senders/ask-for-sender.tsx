import { Button, Modal, Stack, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { call } from '../api/call.ts';
import type { SenderRecord } from '../api/operator-types.ts';
import { ProblemCallout } from '../parts/notice/problem-callout.tsx';
import { useToast } from '../parts/notice/toast.tsx';
import { useAction } from '../session/use-action.ts';
import { words } from '../words/senders.ts';

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
    showToast(made.status === 'approved' ? words.request.granted(made.sender) : words.request.sent(made.sender));
    onAsked();
  });

  function submit(event: FormEvent): void {
    event.preventDefault();
    run();
  }

  return (
    <Modal
      opened
      onClose={onClose}
      title={words.request.title}
      centered
      closeButtonProps={{ 'aria-label': words.request.close }}
    >
      <form onSubmit={submit} noValidate>
        <Stack>
          <TextInput
            label={words.request.sender}
            description={words.request.senderRule}
            placeholder={words.request.senderExample}
            data-autofocus
            value={sender}
            onChange={(event) => setSender(event.currentTarget.value)}
            error={problem?.of('sender')}
          />
          <TextInput
            label={words.request.countries}
            description={words.request.countriesRule}
            placeholder={words.request.countriesExample}
            value={countries}
            onChange={(event) => setCountries(event.currentTarget.value)}
            error={problem?.of('countries')}
          />
          <ProblemCallout problem={problem} fields={['sender', 'countries']} />
          <Button type="submit" loading={busy}>
            {words.request.submit}
          </Button>
        </Stack>
      </form>
    </Modal>
  );
}
