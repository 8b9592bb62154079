import { Button } from '@mantine/core';
import { call } from '../api/call.ts';
import type { Webhook } from '../api/types.ts';
import { useAction } from '../api/use-action.ts';
import { Callout } from '../parts/callout.tsx';
import { ProblemCallout } from '../parts/problem-callout.tsx';
import { Time } from '../parts/time.tsx';
import { useToast } from '../parts/toast.tsx';
import { whyDisabled } from './webhook-words.tsx';

interface WebhookStateProps {
  webhook: Webhook;
  path: string;
  onChange: () => void;
}

/** Says why a webhook gets nothing, and what to do. */
export function WebhookState({ webhook, path, onChange }: WebhookStateProps) {
  const showToast = useToast();
  const { status, disabled_reason, disabled_at, failing_since } = webhook;
  const { run, busy, problem } = useAction(async () => {
    await call('PATCH', path, { body: { status: 'active' } });
    showToast(status === 'paused' ? 'Webhook resumed.' : 'Webhook enabled.');
    onChange();
  });
  const activate = (label: string) => (
    <div>
      <Button size="xs" mt={8} loading={busy} onClick={() => run()}>
        {label}
      </Button>
      <ProblemCallout problem={problem} />
    </div>
  );
  if (status === 'paused') {
    return (
      <Callout tone="wait" title="Webhook paused">
        Nothing is sent. Events wait until you resume it, at most as long as events are kept.
        {activate('Resume')}
      </Callout>
    );
  }
  if (status === 'disabled') {
    return (
      <Callout tone="bad" quiet title="Webhook disabled">
        {disabled_reason !== null && whyDisabled[disabled_reason]}{' '}
        {disabled_at !== null && (
          <>
            Disabled <Time at={disabled_at} />.{' '}
          </>
        )}
        Fix the cause, send a test, then enable it. Events from the time in between are not sent by themselves: replay
        them.
        {activate('Enable')}
      </Callout>
    );
  }
  if (failing_since === null) return null;
  return (
    <Callout tone="wait" title="Attempts are failing">
      No attempt has succeeded since <Time at={failing_since} />. Failed deliveries are tried again. After 5 days
      without a success, the webhook is disabled. Look at the errors below, then send a test.
    </Callout>
  );
}
