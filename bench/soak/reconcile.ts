import { type Ledger, type Listener, listeners } from './ledger.ts';
import { type RecordBook, readNumber } from './record-book.ts';

/** A text as the store has it in the end. */
export interface StoredText {
  reference: string | null;
  status: string;
  /** Submits that the carrier did not accept: refused, throttled, or without an answer. */
  failedSubmits: number;
}

export interface StoredCode {
  reference: string | null;
  status: string;
}

/** An event as the store has it. */
export interface StoredEvent {
  reference: string | null;
  sequence: number;
  isSms: boolean;
}

const ends = ['delivered', 'undelivered', 'failed', 'expired', 'canceled', 'unknown'];

/** Compares the store with the responses of callers: texts. Returns a function for the rows, and one for the end. */
export function createTextCheck(ledger: Ledger) {
  const { texts } = ledger;
  const stored = new Uint8Array(texts.size);
  return {
    row({ reference, status, failedSubmits }: StoredText): void {
      const number = readNumber('t', reference);
      if (number === undefined || number >= texts.size) return;
      stored[number] = (stored[number] ?? 0) + 1;
      ledger.count(`texts ${status}`);
      const what = () => `text ${number} is ${status}`;
      ledger.check('an accepted text ends', ends.includes(status), what);
      const hasLeft = status === 'sent' || status === 'delivered' || status === 'undelivered';
      const submits = texts.countOf(number);
      ledger.check(
        'a text is submitted again only if the submit before failed or was in doubt',
        submits <= 1 + failedSubmits,
        () => `text ${number} was submitted ${submits} times, and ${failedSubmits} failed`,
      );
      if (hasLeft) ledger.check('a text that was sent reached a carrier', submits > 0, what);
    },
    end(): void {
      for (const [number, rows] of stored.entries()) {
        const outcome = texts.outcomeOf(number);
        const what = () => `text ${number} was ${outcome} and is stored ${rows} times`;
        if (outcome === 'accepted') ledger.check('an accepted text is stored, once', rows === 1, what);
        if (outcome === 'refused') ledger.check('a refused text is not stored', rows === 0, what);
      }
    },
  };
}

/** The same for verifications: approved in the store if, and only if, one caller read so. */
export function createCodeCheck(ledger: Ledger) {
  const { codes } = ledger;
  const stored = new Uint8Array(codes.size);
  return {
    row({ reference, status }: StoredCode): void {
      const number = readNumber('v', reference);
      if (number === undefined || number >= codes.size) return;
      stored[number] = (stored[number] ?? 0) + 1;
      ledger.count(`verifications ${status}`);
      const approvals = codes.countOf(number);
      ledger.check(
        'a right code counts once',
        status === 'approved' ? approvals === 1 || (approvals === 0 && codes.isDoubtful(number)) : approvals === 0,
        () => `verification ${number} is ${status} and was answered approved ${approvals} times`,
      );
    },
    end(): void {
      for (const [number, rows] of stored.entries()) {
        if (codes.outcomeOf(number) !== 'accepted') continue;
        const what = () => `verification ${number} is stored ${rows} times`;
        ledger.check('a verification that was started is stored, once', rows === 1, what);
      }
    },
  };
}

/** Every event of the store reached every listener. */
export function checkEvent(ledger: Ledger, { reference, sequence, isSms }: StoredEvent): void {
  const text = readNumber('t', reference);
  const code = readNumber('v', reference);
  const checkReceived = (listener: Listener, book: RecordBook, number: number) =>
    ledger.check(
      `the ${listener} has every event`,
      book.heard(listeners[listener], number, sequence),
      () => `event ${sequence} of ${reference} was not received`,
    );
  if (text !== undefined)
    for (const listener of isSms ? everyone : webhookOnly) checkReceived(listener, ledger.texts, text);
  if (code !== undefined) checkReceived('webhook', ledger.codes, code);
}

const everyone: Listener[] = ['feed', 'stream', 'webhook'];
const webhookOnly: Listener[] = ['webhook'];
