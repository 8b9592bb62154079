import { Button, Group, Modal, Stack, TextInput } from '@mantine/core';
import { type FormEvent, type ReactNode, useState } from 'react';
import { useAction } from '../session/use-action.ts';
import { words } from '../words/parts.tsx';
import { ProblemCallout } from './notice/problem-callout.tsx';

interface ReasonButtonProps {
  label: string;
  /** Added for screen readers when several buttons have the same text. */
  about: string;
  question: string;
  /** Who reads the reason. */
  description: string;
  size?: 'xs' | 'sm';
  children?: ReactNode;
  act: (reason: string) => Promise<unknown>;
}

/** A button that asks for a reason first. */
export function ReasonButton({ label, about, question, description, size = 'sm', children, act }: ReasonButtonProps) {
  const [open, setOpen] = useState(false);
  const [reason, setReason] = useState('');
  const { run, busy, problem } = useAction(async () => {
    await act(reason.trim());
    setOpen(false);
  });

  function submit(event: FormEvent): void {
    event.preventDefault();
    run();
  }

  return (
    <>
      <Button variant="default" size={size} onClick={() => setOpen(true)} aria-label={`${label} ${about}`}>
        {label}
      </Button>
      <Modal
        opened={open}
        onClose={() => setOpen(false)}
        title={question}
        centered
        closeButtonProps={{ 'aria-label': words.close }}
      >
        <form onSubmit={submit} noValidate>
          <Stack>
            {children !== undefined && <p style={{ margin: 0 }}>{children}</p>}
            <TextInput
              label={words.reason}
              description={description}
              data-autofocus
              value={reason}
              onChange={(event) => setReason(event.currentTarget.value)}
              error={problem?.of('reason')}
            />
            <ProblemCallout problem={problem} fields={['reason']} />
            <Group justify="flex-end">
              <Button variant="default" onClick={() => setOpen(false)}>
                {words.cancel}
              </Button>
              <Button type="submit" color="red.8" loading={busy}>
                {label}
              </Button>
            </Group>
          </Stack>
        </form>
      </Modal>
    </>
  );
}
