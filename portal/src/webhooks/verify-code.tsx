import { SegmentedControl, Stack } from '@mantine/core';
import { useState } from 'react';
import guide from '../../../docs/events.md?raw';
import { CodeBlock } from '../parts/code-block.tsx';
import { words } from '../words/webhooks.tsx';
import { guideSamples } from './guide-samples.ts';

const samples = guideSamples(guide);
const languages = [
  { value: 'verify-webhook.ts', label: words.code.typeScript },
  { value: 'verify_webhook.py', label: words.code.python },
  { value: 'verify_webhook.php', label: words.code.php },
];

/** Code that checks a signature: the samples of docs/events.md. */
export default function VerifyCode() {
  const [name, setName] = useState('verify-webhook.ts');
  return (
    <Stack gap="xs">
      <SegmentedControl aria-label={words.code.language} value={name} onChange={setName} data={languages} />
      <CodeBlock tall={false} what={words.code.copy} text={(samples.get(name) ?? '').trimEnd()} />
    </Stack>
  );
}
