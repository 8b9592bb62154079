import { Button, Modal, Stack, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { useLocation } from 'wouter';
import { call } from '../api/call.ts';
import type { Application } from '../api/types.ts';
import { useAction } from '../api/use-action.ts';
import { ProblemCallout } from '../parts/problem-callout.tsx';

export function CreateApplication({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  const [, navigate] = useLocation();
  const [name, setName] = useState('');
  const { run, busy, problem } = useAction(async () => {
    const { id } = await call<Application>('POST', '/portal/v1/applications', { body: { name } });
    navigate(`/applications/${id}`);
  });

  function submit(event: FormEvent): void {
    event.preventDefault();
    run();
  }

  return (
    <Modal
      opened={opened}
      onClose={onClose}
      title="Create an application"
      centered
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <form onSubmit={submit} noValidate>
        <Stack>
          <TextInput
            label="Name"
            description="Shown in verification texts: “ACME: your code is 123456”."
            placeholder="ACME"
            data-autofocus
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
            error={problem?.of('name')}
          />
          <ProblemCallout problem={problem} fields={['name']} />
          <Button type="submit" loading={busy}>
            Create
          </Button>
        </Stack>
      </form>
    </Modal>
  );
}
