import { Button, Group, Modal, Stack, Text, TextInput } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { useAction } from '../session/use-action.ts';
import { words } from '../words/parts.tsx';
import { ProblemCallout } from './notice/problem-callout.tsx';

interface ConfirmButtonProps {
  /** The text of the button, on the page and in the dialog. */
  label: string;
  /** Added for screen readers when several buttons have the same text. */
  about?: string;
  question: string;
  size?: 'xs' | 'sm';
  children: ReactNode;
  /** A text that the person must type first, before something valuable is lost. */
  typed?: { label: string; text: string };
  act: () => Promise<unknown>;
}

/** A button that asks before it does something that cannot be undone. */
export function ConfirmButton({ label, about, question, size = 'xs', children, typed, act }: ConfirmButtonProps) {
  const [open, setOpen] = useState(false);
  const [text, setText] = useState('');
  const { run, busy, problem } = useAction(async () => {
    await act();
    setOpen(false);
  });
  return (
    <>
      <Button
        variant="default"
        size={size}
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
        closeButtonProps={{ 'aria-label': words.close }}
      >
        <Stack>
          <Text>{children}</Text>
          {typed !== undefined && (
            <TextInput
              label={typed.label}
              autoComplete="off"
              data-autofocus
              value={text}
              onChange={(event) => setText(event.currentTarget.value)}
            />
          )}
          <ProblemCallout problem={problem} />
          <Group justify="flex-end">
            <Button variant="default" onClick={() => setOpen(false)} data-autofocus={typed === undefined || undefined}>
              {words.cancel}
            </Button>
            <Button
              color="red.8"
              loading={busy}
              disabled={typed !== undefined && text.trim() !== typed.text.trim()}
              onClick={() => run()}
            >
              {label}
            </Button>
          </Group>
        </Stack>
      </Modal>
    </>
  );
}
