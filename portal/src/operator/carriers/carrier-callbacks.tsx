import { Stack } from '@mantine/core';
import type { Carrier } from '../../api/operator-types.ts';
import { CodeBlock } from '../../parts/code-block.tsx';
import { Panel } from '../../parts/panel.tsx';

/** Where the provider reports. The addresses prove who it is, so they are shown only on demand. */
export function CarrierCallbacks({ callbacks }: { callbacks: NonNullable<Carrier['callbacks']> }) {
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
        </Stack>
      </details>
    </Panel>
  );
}
