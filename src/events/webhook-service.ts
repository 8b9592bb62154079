import type { PageRequest } from '../http/list-page.ts';
import type { EventType } from './event.ts';
import type { Attempt, DeliveryStatus, Webhook, WebhookSecret } from './webhook.ts';
import type { ShownDelivery } from './webhook-deliveries.ts';

export interface NewWebhook {
  url: string;
  types: EventType[];
  description: string | null;
}

export interface WebhookChange {
  url?: string | undefined;
  types?: EventType[] | undefined;
  description?: string | null | undefined;
  status?: 'active' | 'paused' | undefined;
}

export interface WebhookDetail extends Webhook {
  secrets: WebhookSecret[];
}

/** A secret for its owner. It is shown once. */
export interface NewSecret extends WebhookSecret {
  secret: string;
}

export interface TestOutcome extends Attempt {
  eventId: string;
  outcome: 'delivered' | 'failed';
}

export interface ReplaySpan {
  sinceMs: number;
  /** Undefined: until now. */
  untilMs: number | undefined;
  types: EventType[];
}

/** The webhooks of applications. A webhook of another application is a 404. */
export interface WebhookService {
  create(applicationId: string, given: NewWebhook): Promise<WebhookDetail & { secret: string }>;
  list(applicationId: string): Promise<Webhook[]>;
  read(applicationId: string, id: string): Promise<WebhookDetail>;
  /** No attempt by the old settings begins after it has resolved; the same holds for `remove` and `rotateSecret`. */
  change(applicationId: string, id: string, change: WebhookChange): Promise<WebhookDetail>;
  remove(applicationId: string, id: string): Promise<void>;
  rotateSecret(applicationId: string, id: string, overlapSeconds: number): Promise<NewSecret>;
  test(applicationId: string, id: string): Promise<TestOutcome>;
  /** Newest first. */
  listDeliveries(
    applicationId: string,
    id: string,
    status: DeliveryStatus | undefined,
    page: PageRequest,
  ): Promise<{ rows: ShownDelivery[]; searchedTo: string | undefined }>;
  replayOne(applicationId: string, id: string, eventId: string): Promise<void>;
  replaySpan(applicationId: string, id: string, span: ReplaySpan): Promise<void>;
}
