import { Button } from '@mantine/core';
import { Icon } from '../parts/icon.tsx';
import { words } from '../words/try.tsx';
import type { Exchange } from './exchange.ts';
import { useSecondsLeft } from './use-seconds-left.ts';

interface SendButtonProps {
  label: string;
  busy: boolean;
  /** The last call. After a 429 the button waits as long as the response says. */
  last: Exchange | undefined;
  arrow?: boolean;
}

export function SendButton({ label, busy, last, arrow = false }: SendButtonProps) {
  const seconds = useSecondsLeft(last);
  return (
    <Button
      type="submit"
      loading={busy}
      disabled={seconds > 0}
      {...(arrow && { rightSection: <Icon name="arrow" size={16} /> })}
    >
      {seconds > 0 ? words.result.sendIn(label, seconds) : label}
    </Button>
  );
}
