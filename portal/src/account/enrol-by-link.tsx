import { Stack } from '@mantine/core';
import { CodeBlock } from '../parts/code-block.tsx';
import { Callout } from '../parts/notice/callout.tsx';
import { words } from '../words/account.ts';

/** Operators set up a second factor by a link from the server: a stolen password must not be enough. */
export function EnrolByLink({ email }: { email: string }) {
  return (
    <Stack>
      <Callout tone="wait" title={words.factor.linkTitle}>
        {words.factor.linkDetail}
      </Callout>
      <CodeBlock what={words.factor.linkCommand} text={words.factor.command(email)} />
    </Stack>
  );
}
