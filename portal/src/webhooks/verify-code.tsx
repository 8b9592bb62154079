import { SegmentedControl, Stack } from '@mantine/core';
import { useState } from 'react';
import guide from '../../../docs/events.md?raw';
import { CodeBlock } from '../parts/code-block.tsx';
import { guideSamples } from './guide-samples.ts';

const samples = guideSamples(guide);
const languages = [
  { value: 'verify-webhook.ts', label: 'TypeScript' },
  { value: 'verify_webhook.py', label: 'Python' },
  { value: 'verify_webhook.php', label: 'PHP' },
];

/** Code that checks a signature: the samples of docs/events.md. */
export default function VerifyCode() {
  const [name, setName] = useState('verify-webhook.ts');
  return (
    <Stack gap="xs">
      <SegmentedControl aria-label="Language" value={name} onChange={setName} data={languages} />
      <CodeBlock tall={false} what="the code that verifies a webhook" text={(samples.get(name) ?? '').trimEnd()} />
    </Stack>
  );
}
