import type { EventType } from '../events/event.ts';
import { dayMs } from '../platform/clock.ts';
import { ApiError } from '../platform/errors.ts';

export const webhookStatuses = ['active', 'paused', 'disabled'] as const;
export type WebhookStatus = (typeof webhookStatuses)[number];

/** `gone`: the endpoint answered 410. `no_success`: every attempt of the last five days failed. */
export const disabledReasons = ['gone', 'no_success'] as const;
export type DisabledReason = (typeof disabledReasons)[number];

/** An endpoint that receives the events of an application. */
export interface Webhook {
  id: string;
  applicationId: string;
  url: string;
  /** Empty: all. */
  types: EventType[];
  description: string | null;
  status: WebhookStatus;
  disabledReason: DisabledReason | null;
  disabledAtMs: number | null;
  /** The first failed attempt since the last success. */
  failingSinceMs: number | null;
  lastSuccessAtMs: number | null;
  createdAtMs: number;
  updatedAtMs: number;
}

/** Without the secret itself. */
export interface WebhookSecret {
  id: string;
  createdAtMs: number;
  /** Null: until a new secret replaces it. */
  endsAtMs: number | null;
}

/** The order is stored as numbers: append new ones. */
export const deliveryStatuses = ['waiting', 'delivered', 'failed'] as const;
export type DeliveryStatus = (typeof deliveryStatuses)[number];

export interface Attempt {
  timeMs: number;
  /** Null if no answer came. */
  statusCode: number | null;
  milliseconds: number;
  /** Null for a success. */
  error: string | null;
}

/** One event for one webhook. */
export interface Delivery {
  webhookId: string;
  position: number;
  status: DeliveryStatus;
  /** Attempts of the current schedule; a replay restarts it. */
  attemptCount: number;
  /** The newest ones, oldest first. */
  attempts: Attempt[];
  /** Null unless it waits. */
  nextAttemptAtMs: number | null;
}

/** An application listens for this time after its last read of the feed. */
export const feedKeepsListeningMs = 7 * dayMs;

export const mostWebhooks = 10;
export const mostSecrets = 5;
export const mostReplays = 5;
/** Maximum attempts that a delivery keeps: two schedules. */
export const attemptsKept = 20;

export function tooMany(what: string, most: number): ApiError {
  return new ApiError(
    'INCOMPATIBLE_STATE',
    `There are ${most} ${what}, the maximum. Delete one or wait, then try again.`,
  );
}
