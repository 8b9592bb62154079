import { ActionIcon } from '@mantine/core';
import { useState } from 'react';
import { Icon } from './icon.tsx';
import { useNotice } from './notice.tsx';

/** Copies a text; `what` completes "Copy …". */
export function Copy({ text, what }: { text: string; what: string }) {
  const tell = useNotice();
  const [copied, setCopied] = useState(false);

  async function copy(): Promise<void> {
    try {
      await navigator.clipboard.writeText(text);
      setCopied(true);
      tell('Copied.');
    } catch {
      tell('The browser does not let this page copy. Select the text and copy it yourself.');
    }
  }

  return (
    <ActionIcon
      variant="default"
      size="lg"
      aria-label={`Copy ${what}`}
      title={`Copy ${what}`}
      onClick={() => void copy()}
    >
      <Icon name={copied ? 'check' : 'copy'} />
    </ActionIcon>
  );
}
