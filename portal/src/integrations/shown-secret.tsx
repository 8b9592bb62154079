import { Button, Modal, Stack, Title } from '@mantine/core';
import type { HookDetail } from '../api/types.ts';
import { CodeBlock } from '../parts/code-block.tsx';
import { Callout } from '../parts/notice/callout.tsx';
import { words as allWords } from '../words/integrations.tsx';
import { HookSettings } from './hook-settings.tsx';
import styles from './integrations.module.css';
import { nameOf } from './kinds.ts';

const words = allWords.secret;

interface ShownSecretProps {
  hook: Pick<HookDetail, 'kind' | 'url' | 'pointers' | 'settings'>;
  secret: string;
  onClose: () => void;
}

/** Shown once. Only its button closes it, so that a stray click cannot lose the secret. */
export function ShownSecret({ hook, secret, onClose }: ShownSecretProps) {
  return (
    <Modal
      opened
      onClose={onClose}
      title={words.title(nameOf(hook.kind))}
      size="xl"
      withCloseButton={false}
      closeOnClickOutside={false}
      closeOnEscape={false}
    >
      <Stack>
        <Callout tone="wait" title={words.once}>
          {words.why}
        </Callout>
        <CodeBlock what={words.copy} text={secret} />
        <div>
          <Title order={3}>{allWords.settings.title(nameOf(hook.kind))}</Title>
          <p className={styles.where}>{allWords.kinds[hook.kind].where}</p>
        </div>
        <HookSettings hook={hook} secret={secret} />
        <Button onClick={onClose} data-autofocus>
          {words.done}
        </Button>
      </Stack>
    </Modal>
  );
}
