import { Button, Modal, NativeSelect, Stack, TextInput } from '@mantine/core';
import { useState } from 'react';
import { Icon } from '../parts/icon.tsx';
import { ProblemCallout } from '../parts/notice/problem-callout.tsx';
import { useAction } from '../session/use-action.ts';
import { words } from '../words/webhooks.tsx';

interface RotateProps {
  what: string;
  older: string;
  /** The field for the new secret, where the other side makes it. */
  given?: { label: string; description: string };
  rotate: (overlapSeconds: number, given: string) => Promise<void>;
}

const overlaps = [
  { value: '0', label: words.rotate.now },
  { value: '3600', label: words.rotate.hour },
  { value: '86400', label: words.rotate.day },
  { value: '604800', label: words.rotate.week },
  { value: '2592000', label: words.rotate.month },
];

/** Creates a new secret. During the overlap, older secrets still work. */
export function Rotate({ what, older, given, rotate }: RotateProps) {
  const [open, setOpen] = useState(false);
  const [overlap, setOverlap] = useState('86400');
  const [secret, setSecret] = useState('');
  const { run, busy, problem } = useAction(async () => {
    await rotate(Number(overlap), secret);
    setSecret('');
    setOpen(false);
  });
  return (
    <>
      <Button variant="default" leftSection={<Icon name="refresh" size={16} />} onClick={() => setOpen(true)}>
        {words.rotate.label(what)}
      </Button>
      <Modal
        opened={open}
        onClose={() => setOpen(false)}
        title={words.rotate.title(what)}
        centered
        closeButtonProps={{ 'aria-label': words.close }}
      >
        <Stack>
          {given !== undefined && (
            <TextInput
              {...given}
              autoComplete="off"
              data-autofocus
              value={secret}
              onChange={(event) => setSecret(event.currentTarget.value)}
              error={problem?.of('secret', given.label)}
            />
          )}
          <NativeSelect
            label={older}
            description={words.rotate.rule}
            data={overlaps}
            value={overlap}
            onChange={(event) => setOverlap(event.currentTarget.value)}
            data-autofocus={given === undefined || undefined}
          />
          <ProblemCallout problem={problem} fields={given === undefined ? [] : ['secret']} />
          <Button loading={busy} onClick={() => run()}>
            {words.rotate.submit}
          </Button>
        </Stack>
      </Modal>
    </>
  );
}
