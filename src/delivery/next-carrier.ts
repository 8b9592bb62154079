import type { TextToSend } from '../messages/text-to-send.ts';
import type { RouteRule } from './route-table.ts';

/** What routing needs to know of a text that is to go on. */
export type MovingText = Pick<TextToSend, 'id' | 'applicationId' | 'api' | 'to' | 'sender' | 'given'>;

/** Where a text may go on to. */
export interface NextCarrier {
  carrier: string;
  /** The rule that allows it; null with an empty table. */
  rule: RouteRule | null;
  version: number;
}
