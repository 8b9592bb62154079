import type { Message } from './messages/message.ts';

/** The text of a message as it leaves, and as the inbox shows it. */
export function textOf(message: Message): string {
  return message.body ?? '';
}
