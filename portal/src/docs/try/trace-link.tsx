import { Button } from '@mantine/core';
import { useLocation } from 'wouter';
import { call } from '../../api/call.ts';
import { useToast } from '../../parts/notice/toast.tsx';
import { useSession } from '../../session/session.tsx';
import { useAction } from '../../session/use-action.ts';
import { words } from '../../words/docs.tsx';

/** The correlation id of a response. For signed-in developers it links to the trace of the request. */
export function TraceLink({ correlationId }: { correlationId: string }) {
  const { account } = useSession();
  const [, navigate] = useLocation();
  const showToast = useToast();
  const { run, busy } = useAction(async () => {
    const path = await findTrace(correlationId);
    if (path === undefined) showToast(words.trace.notYet);
    else navigate(path);
  });
  return (
    <>
      <code>{correlationId}</code>{' '}
      {account !== null && (
        <Button variant="default" size="compact-xs" loading={busy} onClick={() => run()}>
          {words.trace.open}
        </Button>
      )}
    </>
  );
}

/** The trace of a request that created no record is stored a few seconds after the response. */
const rounds = 12;
const roundMs = 1000;

async function findTrace(correlationId: string): Promise<string | undefined> {
  for (let round = 0; round < rounds; round++) {
    const path = `/portal/v1/requests/${encodeURIComponent(correlationId)}`;
    const trace = await call<{ application_id: string }>('GET', path).catch(() => undefined);
    if (trace !== undefined) return `/applications/${trace.application_id}/requests/${correlationId}`;
    await new Promise((resolve) => setTimeout(resolve, roundMs));
  }
  return undefined;
}
