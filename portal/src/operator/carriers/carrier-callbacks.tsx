import { Stack } from '@mantine/core';
import { call, operatorPath } from '../../api/call.ts';
import type { Carrier } from '../../api/operator-types.ts';
import { CodeBlock } from '../../parts/code-block.tsx';
import { ConfirmButton } from '../../parts/confirm-button.tsx';
import { Panel } from '../../parts/panel.tsx';
import { useToast } from '../../parts/toast.tsx';

interface CarrierCallbacksProps {
  name: string;
  callbacks: NonNullable<Carrier['callbacks']>;
  onChange: () => void;
}

/** Where the provider reports. The addresses prove who it is, so they are shown only on demand. */
export function CarrierCallbacks({ name, callbacks, onChange }: CarrierCallbacksProps) {
  const showToast = useToast();

  async function renew(): Promise<void> {
    await call('POST', operatorPath(`carriers/${encodeURIComponent(name)}/renew-callbacks`));
    showToast('The addresses are new. Give them to the provider.');
    onChange();
  }

  return (
    <Panel title="Callbacks" lead="Give these addresses to the provider. Each has a token in it: keep them secret.">
      <details>
        <summary>Show the addresses</summary>
        <Stack mt="sm">
          <div>
            Receipts
            <CodeBlock what="the address for receipts" text={callbacks.receipts} />
          </div>
          <div>
            Inbound texts
            <CodeBlock what="the address for inbound texts" text={callbacks.inbound} />
          </div>
          <div>
            <ConfirmButton label="New addresses" question="Make new addresses?" act={renew}>
              The old ones stop working within 2 seconds. Receipts that the provider still sends there are lost.
            </ConfirmButton>
          </div>
        </Stack>
      </details>
    </Panel>
  );
}
