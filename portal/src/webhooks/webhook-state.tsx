import { Button } from '@mantine/core';
import { call } from '../api/call.ts';
import type { Webhook } from '../api/types.ts';
import { Callout } from '../parts/notice/callout.tsx';
import { ProblemCallout } from '../parts/notice/problem-callout.tsx';
import { useToast } from '../parts/notice/toast.tsx';
import { Time } from '../parts/time.tsx';
import { useCanChange } from '../session/role.ts';
import { useAction } from '../session/use-action.ts';
import { words } from '../words/webhooks.tsx';
import { whyDisabled } from './webhook-words.tsx';

interface WebhookStateProps {
  webhook: Webhook;
  path: string;
  onChange: () => void;
}

/** Explains why a webhook gets no events, and what to do. */
export function WebhookState({ webhook, path, onChange }: WebhookStateProps) {
  const showToast = useToast();
  const canChange = useCanChange();
  const { status, disabled_reason, disabled_at, failing_since } = webhook;
  const { run, busy, problem } = useAction(async () => {
    await call('PATCH', path, { body: { status: 'active' } });
    showToast(status === 'paused' ? words.state.resumed : words.state.enabled);
    onChange();
  });
  const activate = (label: string) =>
    canChange && (
      <div>
        <Button size="xs" mt={8} loading={busy} onClick={() => run()}>
          {label}
        </Button>
        <ProblemCallout problem={problem} />
      </div>
    );
  if (status === 'paused') {
    return (
      <Callout tone="wait" title={words.state.paused}>
        {words.state.pausedNext}
        {activate(words.state.resume)}
      </Callout>
    );
  }
  if (status === 'disabled') {
    return (
      <Callout tone="bad" quiet title={words.state.disabled}>
        {disabled_reason !== null && whyDisabled[disabled_reason]}{' '}
        {disabled_at !== null && (
          <>
            {words.state.disabledAt} <Time at={disabled_at} />.{' '}
          </>
        )}
        {words.state.disabledNext}
        {activate(words.state.enable)}
      </Callout>
    );
  }
  if (failing_since === null) return null;
  return (
    <Callout tone="wait" title={words.state.failing}>
      {words.state.failingSince(<Time at={failing_since} />)}
    </Callout>
  );
}
