import type { ReactNode } from 'react';
import type { Webhook, WebhookAttempt } from '../api/types.ts';
import { Time } from '../parts/time.tsx';
import { words } from '../words/webhooks.tsx';

export function typesOf({ types }: Webhook): string {
  if (types.length === 0) return words.types.all;
  return words.types.count(types.length);
}

/** The last success of a webhook, or since when it fails. */
export function healthOf({ failing_since, last_success_at }: Webhook): ReactNode {
  if (failing_since !== null) {
    return words.health.failing(<Time at={failing_since} />);
  }
  if (last_success_at === null) return words.health.none;
  return words.health.success(<Time at={last_success_at} />);
}

/** The outcome of an attempt in one line. */
export function outcomeOf({ status_code, milliseconds, error }: Omit<WebhookAttempt, 'time'>): string {
  const took = words.attempt.took(milliseconds.toLocaleString('en'));
  if (error === null) return words.attempt.answered(status_code, took);
  return status_code === null
    ? words.attempt.failed(error, took)
    : `${words.attempt.answered(status_code, took)}: ${error}`;
}

export const whyDisabled = {
  gone: words.state.gone,
  no_success: words.state.noSuccess,
};
