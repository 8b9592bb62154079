import { Button, Group } from '@mantine/core';
import { CopyButton } from '../parts/copy-button.tsx';
import { Callout } from '../parts/notice/callout.tsx';
import { words } from '../words/account.ts';
import styles from './account.module.css';

/** New recovery codes, which are shown only once. */
export function RecoveryCodes({ codes, onDone }: { codes: string[]; onDone: () => void }) {
  return (
    <>
      <Callout tone="wait" title={words.recovery.title}>
        {words.recovery.detail}
      </Callout>
      <ul className={styles.codes}>
        {codes.map((code) => (
          <li key={code}>{code}</li>
        ))}
      </ul>
      <Group>
        <CopyButton what={words.recovery.copy} text={codes.join('\n')} />
        <Button onClick={onDone}>{words.recovery.done}</Button>
      </Group>
    </>
  );
}
