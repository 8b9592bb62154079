import { Button, Modal, Skeleton, Stack, Title } from '@mantine/core';
import { lazy, Suspense } from 'react';
import type { NewTwilioAccount } from '../../api/types.ts';
import { Callout } from '../../parts/notice/callout.tsx';
import { words as allWords } from '../../words/integrations.tsx';
import { Credentials } from './credentials.tsx';
import { HostWarning } from './host-warning.tsx';

const words = allWords.twilio;
export const Lines = lazy(() => import('./lines.tsx'));

/** Shown once. Only its button closes it, so that a stray click cannot lose the token. */
export function ShownToken({ account, onClose }: { account: NewTwilioAccount; onClose: () => void }) {
  return (
    <Modal
      opened
      onClose={onClose}
      title={words.shown}
      size="xl"
      withCloseButton={false}
      closeOnClickOutside={false}
      closeOnEscape={false}
    >
      <Stack>
        <Callout tone="wait" title={words.once}>
          {words.why}
        </Callout>
        <Credentials account={account} token={account.auth_token} />
        <HostWarning baseUrl={account.base_url} />
        <Title order={3}>{words.lines}</Title>
        <Suspense fallback={<Skeleton height={240} />}>
          <Lines account={account} token={account.auth_token} />
        </Suspense>
        <Button onClick={onClose} data-autofocus>
          {words.done}
        </Button>
      </Stack>
    </Modal>
  );
}
