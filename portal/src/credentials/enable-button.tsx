import { Button } from '@mantine/core';
import { call } from '../api/call.ts';
import { Callout } from '../parts/notice/callout.tsx';
import { ProblemCallout } from '../parts/notice/problem-callout.tsx';
import { useToast } from '../parts/notice/toast.tsx';
import { useAction } from '../session/use-action.ts';
import { words } from '../words/credentials.tsx';

interface EnableButtonProps {
  /** The credential's path in the API. */
  path: string;
  /** The message after it is enabled. */
  done: string;
  /** Names the credential for screen readers. */
  about: string;
  onDone: () => void;
}

/** Enables a credential that was suspended when a backup was restored. */
export function EnableButton({ path, done, about, onDone }: EnableButtonProps) {
  const showToast = useToast();
  const { run, busy, problem } = useAction(async () => {
    await call('POST', `${path}/enable`);
    showToast(done);
    onDone();
  });
  return (
    <>
      <Button size="xs" loading={busy} onClick={() => run()} aria-label={words.suspended.enableAbout(about)}>
        {words.suspended.enable}
      </Button>
      <ProblemCallout problem={problem} />
    </>
  );
}

/** Shown above a list with a suspended credential. */
export function SuspendedNote({ secrets }: { secrets: { suspended_at: string | null }[] }) {
  if (secrets.every(({ suspended_at }) => suspended_at === null)) return null;
  return (
    <Callout tone="wait" title={words.suspended.title}>
      {words.suspended.text}
    </Callout>
  );
}
