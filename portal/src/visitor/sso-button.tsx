import { Button, Stack } from '@mantine/core';
import { useLocation } from 'wouter';
import { call } from '../api/call.ts';
import { ProblemCallout } from '../parts/notice/problem-callout.tsx';
import { useAction } from '../session/use-action.ts';
import { words } from '../words/sso.ts';

/** Leads to the sign-in page of the company, and from there back to this page. */
export function SsoButton({ issuer }: { issuer: string }) {
  const [path] = useLocation();
  const { run, busy, problem } = useAction(async () => {
    const back = /^\/sign-(?:in|up)/.test(path) ? '/' : path;
    const { url } = await call<{ url: string }>('POST', '/portal/v1/sso/attempts', { body: { return_to: back } });
    location.assign(url);
  });
  return (
    <Stack>
      <ProblemCallout problem={problem} onRetry={run} />
      <Button size="md" loading={busy} onClick={() => run()}>
        {words.button(new URL(issuer).host)}
      </Button>
    </Stack>
  );
}
