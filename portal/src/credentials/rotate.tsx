import { Button, Modal, NativeSelect, Stack } from '@mantine/core';
import { useState } from 'react';
import { useAction } from '../api/use-action.ts';
import { Icon } from '../parts/icon.tsx';
import { ProblemCallout } from '../parts/problem-callout.tsx';

interface RotateProps {
  what: string;
  older: string;
  rotate: (overlapSeconds: number) => Promise<void>;
}

const overlaps = [
  { value: '0', label: 'expire now' },
  { value: '3600', label: 'expire in an hour' },
  { value: '86400', label: 'expire in a day' },
  { value: '604800', label: 'expire in a week' },
  { value: '2592000', label: 'expire in 30 days' },
];

/** Creates a new secret. During the overlap the older ones still work. */
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
        title={`Create a new ${what}`}
        centered
        closeButtonProps={{ 'aria-label': 'Close' }}
      >
        <Stack>
          <NativeSelect
            label={older}
            description="Leave enough time to install the new one."
            data={overlaps}
            value={overlap}
            onChange={(event) => setOverlap(event.currentTarget.value)}
            data-autofocus
          />
          <ProblemCallout problem={problem} />
          <Button loading={busy} onClick={() => run()}>
            Create
          </Button>
        </Stack>
      </Modal>
    </>
  );
}
