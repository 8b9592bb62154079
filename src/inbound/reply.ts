// Tests: test/contract/inbound.test.ts
import type { Message } from '../messages/message.ts';
import { newMessage } from '../messages/new-message.ts';
import { measure } from '../messages/text/text.ts';
import { type Clock, dayMs, hourMs, minuteMs } from '../platform/clock.ts';
import { newId } from '../platform/ids.ts';
import type { Inbound } from './inbound.ts';
import type { OwnNumber } from './own-number.ts';
import type { Language, Word } from './words.ts';

/** A reply depends on the texts of one phone to one number in this time. */
export const recentMs = 10 * minuteMs;
const mostInTenMinutes = 5;
export const mostRecent = mostInTenMinutes + 1;
const sameTextMs = minuteMs;
export const confirmedEveryMs = dayMs;
const validMs = hourMs;

/** The facts that decide whether a text gets an automatic answer. */
export interface ReplyFacts {
  from: string;
  text: string;
  nowMs: number;
  /** The phone's texts of the last ten minutes, this one not among them. */
  lately: readonly Pick<Inbound, 'body' | 'receivedAtMs'>[];
  /** Whether `from` is a number of ours. */
  isOwn: boolean;
}

/** Two machines that answer each other must stop. */
export function mayReply({ from, text, nowMs, lately, isOwn }: ReplyFacts): boolean {
  const isPhone = /^\+[0-9]{7,15}$/.test(from);
  if (!isPhone || isOwn || lately.length >= mostInTenMinutes) return false;
  return !lately.some(({ body, receivedAtMs }) => body === text && receivedAtMs > nowMs - sameTextMs);
}

/** The name and help text of the application that answers. */
export interface Answering {
  name: string;
  helpText: string | null;
}

const sentences: Record<Language, Record<'stop' | 'start', (name: string) => string>> = {
  en: {
    stop: (name) => `You get no more texts from ${name}. Reply START to get them again.`,
    start: (name) => `You get texts from ${name} again. Reply STOP to end them.`,
  },
  fr: {
    stop: (name) => `Vous ne recevrez plus de SMS de ${name}. Repondez START pour en recevoir de nouveau.`,
    start: (name) => `Vous recevrez de nouveau les SMS de ${name}. Repondez STOP pour les arreter.`,
  },
  es: {
    stop: (name) => `No recibirá más SMS de ${name}. Responda ALTA para recibirlos de nuevo.`,
    start: (name) => `Recibirá de nuevo los SMS de ${name}. Responda BAJA para dejar de recibirlos.`,
  },
  de: {
    stop: (name) => `Sie erhalten keine SMS mehr von ${name}. Antworten Sie START, um wieder welche zu erhalten.`,
    start: (name) => `Sie erhalten wieder SMS von ${name}. Antworten Sie STOPP, um sie zu beenden.`,
  },
  pt: {
    stop: (name) => `Não receberá mais SMS de ${name}. Responda START para receber de novo.`,
    start: (name) => `Receberá de novo os SMS de ${name}. Responda SAIR para deixar de receber.`,
  },
};

export function replyText({ kind, language }: Pick<Word, 'kind' | 'language'>, { name, helpText }: Answering): string {
  if (kind !== 'help') return sentences[language][kind](name);
  return helpText ?? `${name}: reply STOP to get no more texts from this number.`;
}

export interface Reply {
  to: string;
  from: string;
  text: string;
  carrier: string;
  holder: Pick<OwnNumber, 'applicationId' | 'api'>;
}

/** An ordinary message of the application that holds the number, by the carrier that the text came from. */
export function toMessage({ to, from, text, carrier, holder }: Reply, clock: Clock): Message {
  const nowMs = clock.nowMs();
  return newMessage({
    id: newId('msg', clock),
    applicationId: holder.applicationId,
    api: holder.api,
    channel: 'sms',
    to,
    sender: from,
    correlationId: newId('req', clock),
    nowMs,
    expiresAtMs: nowMs + validMs,
    lane: 'bulk',
    segments: measure(text),
    route: { carrier, sentAs: null, deferredUntilMs: null, routing: undefined },
    body: text,
  });
}
