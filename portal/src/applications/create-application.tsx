import { Button, Modal, Stack, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { useLocation } from 'wouter';
import { call } from '../api/call.ts';
import type { Application } from '../api/types.ts';
import { ProblemCallout } from '../parts/notice/problem-callout.tsx';
import { useAction } from '../session/use-action.ts';
import { words } from '../words/applications.ts';

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
      title={words.create}
      centered
      closeButtonProps={{ 'aria-label': words.close }}
    >
      <form onSubmit={submit} noValidate>
        <Stack>
          <TextInput
            label={words.form.name}
            description={words.form.description}
            placeholder={words.form.placeholder}
            data-autofocus
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
            error={problem?.of('name') && words.form.nameError}
          />
          <ProblemCallout problem={problem} fields={['name']} />
          <Button type="submit" loading={busy}>
            {words.form.submit}
          </Button>
        </Stack>
      </form>
    </Modal>
  );
}
