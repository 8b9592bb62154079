import { Button, Modal, Stack } from '@mantine/core';
import type { NewSmppAccount } from '../../api/types.ts';
import { Callout } from '../../parts/notice/callout.tsx';
import { words } from '../../words/smpp.tsx';
import { Settings } from './settings.tsx';

/** Shown once. Only its button closes it, so that a stray click cannot lose the password. */
export function ShownPassword({ account, onClose }: { account: NewSmppAccount; onClose: () => void }) {
  return (
    <Modal
      opened
      onClose={onClose}
      title={words.shown}
      size="lg"
      withCloseButton={false}
      closeOnClickOutside={false}
      closeOnEscape={false}
    >
      <Stack>
        <Callout tone="wait" title={words.once}>
          {words.why}
        </Callout>
        <Settings account={account} password={account.password} />
        <Button onClick={onClose} data-autofocus>
          {words.done}
        </Button>
      </Stack>
    </Modal>
  );
}
