import type { InboxItem } from '../service/inbox.ts';
import { bold, cyan, dim, pad, type Text, textWidth, wrap } from '../terminal/text.ts';
import { clockTime } from './message.ts';

const widestBubble = 56;

/** How a text came, by channel. An SMS needs no such words. */
const ways: Record<string, string> = { voice: ' by call', whatsapp: ' by WhatsApp' };

/** A text as a phone shows it. */
export function bubble(
  { from, to, text, received_at: at, verification_id: verification, channel }: InboxItem,
  columns: number,
): Text[] {
  const lines = wrap(text, Math.min(widestBubble, columns - 6));
  const width = Math.max(...lines.map(textWidth));
  const edge = '─'.repeat(width + 2);
  return [
    [
      bold(from),
      dim(' to '),
      cyan(to),
      dim(`  ${clockTime(at)}${verification === null ? '' : '  code'}${ways[channel ?? ''] ?? ''}`),
    ],
    dim(`  ╭${edge}╮`),
    ...lines.map((line): Text => [dim('  │ '), pad(line, width), dim(' │')]),
    dim(`  ╰${edge}╯`),
  ];
}
