import { SegmentedControl, Stack } from '@mantine/core';
import { useState } from 'react';
import guide from '../../../../docs/tutorials/from-twilio-verify/README.md?raw';
import type { TwilioAccount } from '../../api/types.ts';
import { CodeBlock } from '../../parts/code-block.tsx';
import { guideSamples } from '../../webhooks/guide-samples.ts';
import { words as allWords } from '../../words/integrations.tsx';
import styles from '../integrations.module.css';
import { fillLines } from './fill-lines.ts';

const words = allWords.twilio;
const samples = guideSamples(guide);
const languages = [
  { value: 'move.mjs', label: words.languages.node },
  { value: 'move.py', label: words.languages.python },
  { value: 'move.php', label: words.languages.php },
  { value: 'Move.java', label: words.languages.java },
  { value: 'move.go', label: words.languages.go },
];
/** Libraries that accept another address. For the others the sample brings its own HTTP client. */
const withAddress = ['move.mjs', 'move.py'];
const notRun = 'Move.java';

interface LinesProps {
  account: Pick<TwilioAccount, 'account_sid' | 'service_sid' | 'base_url'>;
  /** Undefined once it can no longer be shown. */
  token?: string;
}

/** The lines to change in a program: the samples of the guide, with the application's own values. */
export default function Lines({ account, token = words.yourToken }: LinesProps) {
  const [name, setName] = useState('move.mjs');
  const label = languages.find(({ value }) => value === name)?.label ?? '';
  return (
    <Stack gap="xs">
      <SegmentedControl aria-label={words.language} value={name} onChange={setName} data={languages} />
      {!withAddress.includes(name) && (
        <p className={styles.where}>
          {words.needsClient(label)} {name === notRun && words.notRun}
        </p>
      )}
      <CodeBlock what={words.copyLines(label)} text={fillLines(samples.get(name) ?? '', account, token)} />
    </Stack>
  );
}
