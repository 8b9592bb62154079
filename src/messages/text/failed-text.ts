import type { MessageStatus } from '../message.ts';
import { statusCodes } from '../message-row.ts';

/** The final statuses of texts that did not arrive. */
export const failedEnds: readonly MessageStatus[] = ['undelivered', 'failed', 'expired'];

/** Reads whether a text has failed, as a lateral row `failed`. The bounds exclude partitions of other weeks. */
export const failedText = (id: string, [from, to]: readonly [string, string]) =>
  `(select status in (${statusCodes(failedEnds)}) as failed from message
        where id = ${id} and id >= ${from} and id < ${to} limit 1)`;
