import { Button } from '@mantine/core';
import { call, operatorPath } from '../../api/call.ts';
import type { Carrier } from '../../api/operator-types.ts';
import { ProblemCallout } from '../../parts/notice/problem-callout.tsx';
import { useToast } from '../../parts/notice/toast.tsx';
import { useAction } from '../../session/use-action.ts';
import { words } from '../../words/operator/carriers.ts';
import { isWaiting } from './carrier-facts.ts';

/** Connects now instead of at the next attempt. Hidden while every connection is up. */
export function TryButton({ carrier, onChange }: { carrier: Carrier; onChange: () => void }) {
  const showToast = useToast();
  const { name } = carrier;
  const { run, busy, problem } = useAction(async () => {
    await call('POST', operatorPath(`carriers/${name}/try`));
    showToast(words.tryNow.asked(name));
    onChange();
  });
  if (!isWaiting(carrier)) return <ProblemCallout problem={problem} />;
  const { label } = words.tryNow;
  return (
    <>
      <Button variant="default" size="xs" loading={busy} aria-label={`${label} ${name}`} onClick={() => run()}>
        {label}
      </Button>
      <ProblemCallout problem={problem} />
    </>
  );
}
