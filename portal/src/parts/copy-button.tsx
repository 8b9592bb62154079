import { ActionIcon } from '@mantine/core';
import { useState } from 'react';
import { Icon } from './icon.tsx';
import { useToast } from './toast.tsx';

/** Copies a text; `what` completes "Copy …". */
export function CopyButton({ text, what }: { text: string; what: string }) {
  const showToast = useToast();
  const [copied, setCopied] = useState(false);

  async function copy(): Promise<void> {
    try {
      await navigator.clipboard.writeText(text);
      setCopied(true);
      showToast('Copied.');
    } catch {
      showToast('The browser blocked copying. Select the text and copy it yourself.');
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
