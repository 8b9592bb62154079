import { Button, Group, Modal, Stack, Text } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { useAction } from '../api/use-action.ts';
import { ProblemNote } from './problem-note.tsx';

interface ConfirmProps {
  /** What the button says, here and in the question. */
  label: string;
  /** For screen readers, when several buttons on a page say the same. */
  about?: string;
  question: string;
  children: ReactNode;
  act: () => Promise<unknown>;
}

/** A button for what cannot be undone: it asks first. */
export function Confirm({ label, about, question, children, act }: ConfirmProps) {
  const [open, setOpen] = useState(false);
  const { run, busy, problem } = useAction(async () => {
    await act();
    setOpen(false);
  });
  return (
    <>
      <Button
        variant="default"
        size="xs"
        c="var(--bad)"
        onClick={() => setOpen(true)}
        {...(about !== undefined && { 'aria-label': `${label} ${about}` })}
      >
        {label}
      </Button>
      <Modal
        opened={open}
        onClose={() => setOpen(false)}
        title={question}
        centered
        closeButtonProps={{ 'aria-label': 'Close' }}
      >
        <Stack>
          <Text>{children}</Text>
          <ProblemNote problem={problem} />
          <Group justify="flex-end">
            <Button variant="default" onClick={() => setOpen(false)} data-autofocus>
              Keep it
            </Button>
            <Button color="red.8" loading={busy} onClick={() => run()}>
              {label}
            </Button>
          </Group>
        </Stack>
      </Modal>
    </>
  );
}
