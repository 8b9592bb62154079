import { Button, Modal, Skeleton, Stack, Title } from '@mantine/core';
import { lazy, Suspense } from 'react';
import { CodeBlock } from '../parts/code-block.tsx';
import { Callout } from '../parts/notice/callout.tsx';
import { words } from '../words/webhooks.tsx';

export const VerifyCode = lazy(() => import('./verify-code.tsx'));

/** Shown once. Only its button closes it, so that a stray click cannot lose the secret. */
export function NewSecret({ secret, onClose }: { secret: string; onClose: () => void }) {
  return (
    <Modal
      opened
      onClose={onClose}
      title={words.secret.title}
      size="xl"
      withCloseButton={false}
      closeOnClickOutside={false}
      closeOnEscape={false}
    >
      <Stack>
        <Callout tone="wait" title={words.secret.once}>
          {words.secret.why}
        </Callout>
        <CodeBlock what={words.secret.copy} text={secret} />
        <Title order={3}>{words.secret.code}</Title>
        <Suspense fallback={<Skeleton height={320} />}>
          <VerifyCode />
        </Suspense>
        <Button onClick={onClose} data-autofocus>
          {words.secret.done}
        </Button>
      </Stack>
    </Modal>
  );
}
