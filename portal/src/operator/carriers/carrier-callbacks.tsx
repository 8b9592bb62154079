import { Stack } from '@mantine/core';
import { call, operatorPath } from '../../api/call.ts';
import type { Carrier } from '../../api/operator-types.ts';
import { CodeBlock } from '../../parts/code-block.tsx';
import { ConfirmButton } from '../../parts/confirm-button.tsx';
import { useToast } from '../../parts/notice/toast.tsx';
import { Panel } from '../../parts/panel.tsx';
import { words } from '../../words/operator/carriers.ts';

interface CarrierCallbacksProps {
  name: string;
  callbacks: NonNullable<Carrier['callbacks']>;
  onChange: () => void;
}

/** The URLs that the provider calls. They contain its credential, so they are shown only on demand. */
export function CarrierCallbacks({ name, callbacks, onChange }: CarrierCallbacksProps) {
  const showToast = useToast();

  async function renew(): Promise<void> {
    await call('POST', operatorPath(`carriers/${encodeURIComponent(name)}/renew-callbacks`));
    showToast(words.callbacks.renewed);
    onChange();
  }

  return (
    <Panel title={words.callbacks.title} lead={words.callbacks.lead}>
      <details>
        <summary>{words.callbacks.show}</summary>
        <Stack mt="sm">
          <div>
            {words.callbacks.receipts}
            <CodeBlock what={words.callbacks.copyReceipts} text={callbacks.receipts} />
          </div>
          <div>
            {words.callbacks.inbound}
            <CodeBlock what={words.callbacks.copyInbound} text={callbacks.inbound} />
          </div>
          <div>
            <ConfirmButton label={words.callbacks.renew} question={words.callbacks.renewQuestion} act={renew}>
              {words.callbacks.renewDetail}
            </ConfirmButton>
          </div>
        </Stack>
      </details>
    </Panel>
  );
}
