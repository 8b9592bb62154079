import { ActionIcon, Button } from '@mantine/core';
import { useState } from 'react';
import { words } from '../words/parts.tsx';
import { Icon } from './icon.tsx';
import { useToast } from './notice/toast.tsx';

/** Copies a text; `what` completes "Copy …". */
export function CopyButton({ text, what, small = false }: { text: string; what: string; small?: boolean }) {
  const { copied, copy } = useCopy(text);
  return (
    <ActionIcon
      variant="default"
      size={small ? 28 : 'lg'}
      aria-label={words.copy(what)}
      title={words.copy(what)}
      onClick={copy}
    >
      <Icon name={copied ? 'check' : 'copy'} {...(small && { size: 15 })} />
    </ActionIcon>
  );
}

/** Copies a text; the button has a visible label. */
export function CopyTextButton({ text, label }: { text: string; label: string }) {
  const { copied, copy } = useCopy(text);
  const icon = <Icon name={copied ? 'check' : 'copy'} size={15} />;
  return (
    <Button variant="default" size="xs" leftSection={icon} onClick={copy}>
      {label}
    </Button>
  );
}

function useCopy(text: string): { copied: boolean; copy: () => void } {
  const showToast = useToast();
  const [copied, setCopied] = useState(false);

  async function copy(): Promise<void> {
    try {
      await navigator.clipboard.writeText(text);
      setCopied(true);
      showToast(words.copied);
    } catch {
      showToast(words.copyBlocked);
    }
  }

  return { copied, copy: () => void copy() };
}
