import { Button, Modal, Skeleton, Stack, Title } from '@mantine/core';
import { lazy, Suspense } from 'react';
import { Callout } from '../parts/callout.tsx';
import { CodeBlock } from '../parts/code-block.tsx';

export const VerifyCode = lazy(() => import('./verify-code.tsx'));

/** Shown once. Only its button closes it, so that a stray click cannot lose the secret. */
export function NewSecret({ secret, onClose }: { secret: string; onClose: () => void }) {
  return (
    <Modal
      opened
      onClose={onClose}
      title="Your webhook secret"
      size="xl"
      withCloseButton={false}
      closeOnClickOutside={false}
      closeOnEscape={false}
    >
      <Stack>
        <Callout tone="wait" title="Copy the secret now. It will not be shown again.">
          Your receiver needs it to tell our calls from forged ones. If you lose it, create a new one.
        </Callout>
        <CodeBlock what="the secret" text={secret} />
        <Title order={3}>Code that verifies a webhook</Title>
        <Suspense fallback={<Skeleton height={320} />}>
          <VerifyCode />
        </Suspense>
        <Button onClick={onClose} data-autofocus>
          I have copied it
        </Button>
      </Stack>
    </Modal>
  );
}
