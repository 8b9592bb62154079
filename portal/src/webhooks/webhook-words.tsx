import type { ReactNode } from 'react';
import type { Webhook, WebhookAttempt } from '../api/types.ts';
import { Time } from '../parts/time.tsx';

export function typesOf({ types }: Webhook): string {
  if (types.length === 0) return 'All events';
  return types.length === 1 ? '1 type of event' : `${types.length} types of events`;
}

/** Whether calls arrive. */
export function healthOf({ failing_since, last_success_at }: Webhook): ReactNode {
  if (failing_since !== null) {
    return (
      <>
        Failing since <Time at={failing_since} />
      </>
    );
  }
  if (last_success_at === null) return 'Nothing sent yet';
  return (
    <>
      Last success <Time at={last_success_at} />
    </>
  );
}

/** The outcome of an attempt in one line. */
export function outcomeOf({ status_code, milliseconds, error }: Omit<WebhookAttempt, 'time'>): string {
  const took = `${milliseconds.toLocaleString('en')} ms`;
  if (error === null) return `${status_code} in ${took}`;
  return status_code === null ? `${error} (after ${took})` : `${status_code} in ${took}: ${error}`;
}

export const whyDisabled = {
  gone: 'Your server answered 410 Gone.',
  no_success: 'No attempt succeeded for 5 days.',
};
