import { Button, Modal, NativeSelect, Stack } from '@mantine/core';
import { useState } from 'react';
import { useAction } from '../api/use-action.ts';
import { Icon } from '../parts/icon.tsx';
import { ProblemNote } from '../parts/problem-note.tsx';

interface RotateProps {
  what: string;
  older: string;
  rotate: (overlapSeconds: number) => Promise<void>;
}

const overlaps = [
  { value: '0', label: 'end at once' },
  { value: '3600', label: 'live on for an hour' },
  { value: '86400', label: 'live on for a day' },
  { value: '604800', label: 'live on for a week' },
  { value: '2592000', label: 'live on for 30 days' },
];

/** Makes a new secret; the overlap leaves time to bring it to every machine. */
export function Rotate({ what, older, rotate }: RotateProps) {
  const [open, setOpen] = useState(false);
  const [overlap, setOverlap] = useState('86400');
  const { run, busy, problem } = useAction(async () => {
    await rotate(Number(overlap));
    setOpen(false);
  });
  return (
    <>
      <Button variant="default" leftSection={<Icon name="refresh" size={16} />} onClick={() => setOpen(true)}>
        New {what}
      </Button>
      <Modal
        opened={open}
        onClose={() => setOpen(false)}
        title={`Make a new ${what}`}
        centered
        closeButtonProps={{ 'aria-label': 'Close' }}
      >
        <Stack>
          <NativeSelect
            label={older}
            description="The overlap leaves time to bring the new one to every machine."
            data={overlaps}
            value={overlap}
            onChange={(event) => setOverlap(event.currentTarget.value)}
            data-autofocus
          />
          <ProblemNote problem={problem} />
          <Button loading={busy} onClick={() => run()}>
            Make it
          </Button>
        </Stack>
      </Modal>
    </>
  );
}
