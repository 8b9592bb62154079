import { existsSync, fsyncSync, openSync, readFileSync, truncateSync, writeSync } from 'node:fs';

/**
 * What is known of texts, in a file of lines: `{"event": …}` or `{"cursor": …}`. An event counts once, by its id, whether it
 * came by webhook, again by webhook, or from the feed. Take a table of your database instead, with the id as its key.
 */
export function openJournal(path) {
  const seen = new Set();
  /** The newest event of each text, by its id. */
  const texts = new Map();
  let cursor;

  function apply(line) {
    if ('cursor' in line) cursor = line.cursor ?? undefined;
    if ('record' in line)
      texts.set(line.record.id, { ...line.record, sequence: texts.get(line.record.id)?.sequence ?? 0 });
    if (!('event' in line)) return;
    const { id, subject, sequence, reference, type } = line.event;
    seen.add(id);
    // Webhooks may overtake each other; `sequence` counts the changes of one text.
    if (sequence > (texts.get(subject)?.sequence ?? 0))
      texts.set(subject, { id: subject, order: reference, status: type.replace('message.', ''), sequence });
  }

  // A crash can leave half a line at the end. It was not answered, so it comes again.
  const kept = existsSync(path) ? readFileSync(path, 'utf8') : '';
  const whole = kept.slice(0, kept.lastIndexOf('\n') + 1);
  for (const line of whole.split('\n').slice(0, -1)) apply(JSON.parse(line));
  if (whole.length < kept.length) truncateSync(path, Buffer.byteLength(whole));
  const file = openSync(path, 'a');

  function append(line) {
    writeSync(file, `${JSON.stringify(line)}\n`);
    fsyncSync(file);
    apply(line);
  }

  return {
    get cursor() {
      return cursor;
    },
    keep(event) {
      if (event.subject.startsWith('msg_') && !seen.has(event.id)) append({ event });
    },
    keepRecord({ id, reference, status }) {
      append({ record: { id, order: reference, status } });
    },
    moveTo(next) {
      if (next !== cursor) append({ cursor: next ?? null });
    },
    textsOf: (order) => [...texts.values()].filter((text) => text.order === order),
    openTexts: () => [...texts.values()].filter(({ status }) => status === 'sent').map(({ id }) => id),
  };
}
