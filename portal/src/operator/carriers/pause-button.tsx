import { Button } from '@mantine/core';
import { call, operatorPath } from '../../api/call.ts';
import type { Carrier } from '../../api/operator-types.ts';
import { ProblemCallout } from '../../parts/notice/problem-callout.tsx';
import { useToast } from '../../parts/notice/toast.tsx';
import { useAction } from '../../session/use-action.ts';
import { words } from '../../words/operator/carriers.ts';

/** Pauses or resumes a carrier. Both can be undone, so it does not ask. */
export function PauseButton({
  carrier,
  onChange,
}: {
  carrier: Pick<Carrier, 'name' | 'paused'>;
  onChange: () => void;
}) {
  const showToast = useToast();
  const { name, paused } = carrier;
  const { run, busy, problem } = useAction(async () => {
    await call('POST', operatorPath(`carriers/${name}/${paused ? 'resume' : 'pause'}`));
    showToast(paused ? words.pause.resumed(name) : words.pause.paused(name));
    onChange();
  });
  const label = paused ? words.pause.resume : words.pause.pause;
  return (
    <>
      <Button variant="default" size="xs" loading={busy} aria-label={`${label} ${name}`} onClick={() => run()}>
        {label}
      </Button>
      <ProblemCallout problem={problem} />
    </>
  );
}
