import type { Api } from '../http/route.ts';
import type { Clock } from '../platform/clock.ts';
import type { Message } from './message.ts';
import type { TextToSend } from './text/text-to-send.ts';

/** Texts that this node has just accepted. Delivery sends most of them at once, and need not read them again. */
export interface AcceptedTexts {
  /** Adds texts that `packTexts` has packed. */
  add(packed: string): void;
  /** Returns a text by its id, once; undefined if it has to be read. */
  take(id: string): TextToSend | undefined;
}

/** Older texts are dropped: they wait, or another node has sent them. The maximum is twice this. */
const most = { characters: 4_000_000, ms: 10_000 };
const mark = { cell: '\x1f', text: '\x1e' };
// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern matches these marks on purpose.
const anyMark = /[\x1e\x1f]/;

/** Texts that may be sent at once, in one string: it goes to another thread in a fraction of the time of objects. */
export function packTexts(messages: readonly Message[]): string {
  let packed = '';
  for (const message of messages) if (isPlain(message)) packed += `${toLine(message)}${mark.text}`;
  return packed;
}

function isPlain({ status, verificationId, deferredUntilMs, routing, body }: Message): boolean {
  if (status !== 'queued' || verificationId !== null || deferredUntilMs !== null) return false;
  return (routing?.given ?? null) === null && body !== null && !anyMark.test(body);
}

function toLine(message: Message): string {
  const { id, applicationId, api, to, sender, sentAs, segmentCount, expiresAtMs, body, trace, statusCallback } =
    message;
  const { cell } = mark;
  const traced = trace === undefined ? '' : `${cell}${trace}`;
  return `${id}${cell}${applicationId}${cell}${api}${cell}${to}${cell}${sender}${cell}${sentAs ?? ''}${cell}${segmentCount}${cell}${expiresAtMs}${cell}${statusCallback === undefined ? '' : '1'}${cell}${body}${traced}`;
}

function toText(line: string): TextToSend {
  const [
    id = '',
    applicationId = '',
    api,
    to = '',
    sender = '',
    sentAs = '',
    segments,
    expires,
    reported,
    body = '',
    trace,
  ] = line.split(mark.cell);
  return {
    id,
    applicationId,
    api: api as Api,
    verificationId: null,
    to,
    sender,
    sentAs: sentAs === '' ? null : sentAs,
    body,
    template: null,
    given: null,
    status: 'queued',
    segmentCount: Number(segments),
    expiresAtMs: Number(expires),
    trace: trace ?? null,
    isReported: reported === '1',
  };
}

export function createAcceptedTexts(clock: Pick<Clock, 'steadyMs'>): AcceptedTexts {
  /** Lines by id. When the newer texts are too many or too old, they become the older ones. */
  let newer = begin();
  let older = newer;

  function begin() {
    return { sinceMs: clock.steadyMs(), characters: 0, lines: new Map<string, string>() };
  }

  return {
    add(packed) {
      if (newer.characters >= most.characters || clock.steadyMs() - newer.sinceMs >= most.ms) {
        older = newer;
        newer = begin();
      }
      newer.characters += packed.length;
      for (const line of packed.split(mark.text)) {
        if (line !== '') newer.lines.set(line.slice(0, line.indexOf(mark.cell)), line);
      }
    },
    take(id) {
      const from = newer.lines.has(id) ? newer : older;
      const line = from.lines.get(id);
      if (line === undefined) return undefined;
      from.lines.delete(id);
      return clock.steadyMs() - from.sinceMs < 2 * most.ms ? toText(line) : undefined;
    },
  };
}
