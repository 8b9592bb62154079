import type { Api, Auth } from '../http/route.ts';
import type { Idempotency } from '../platform/database/idempotency.ts';
import type { MessageService } from './message-service.ts';
import type { SendRules } from './send-rules.ts';

/** Options for the routes of one of the two APIs that send texts. */
export interface MessageRoutesOptions {
  api: Exclude<Api, 'verify'>;
  base: string;
  auth: Auth;
  tag: string;
  /** 201 for the SMS API, 200 for the Messaging API: the specification's Outcomes table. */
  created: 200 | 201;
  messages: MessageService;
  idempotency: Idempotency;
  rules: SendRules;
}
