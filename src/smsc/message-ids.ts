import type { Behaviour } from './faults.ts';

/** The id of a text, as the answer to its submit and as its receipt write it. */
export interface MessageIds {
  responseId: string;
  receiptId: string;
}

export function writeIds(id: number, form: Behaviour['ids']): MessageIds {
  const decimal = String(id);
  const hex = id.toString(16);
  switch (form) {
    case 'dec':
      return { responseId: decimal, receiptId: decimal };
    case 'hex':
      return { responseId: hex, receiptId: hex };
    case 'hex-dec':
      return { responseId: hex, receiptId: decimal };
    case 'padded':
      return { responseId: decimal, receiptId: decimal.padStart(20, '0') };
    case 'uuid': {
      const digits = hex.padStart(32, '0');
      const uuid = [0, 8, 12, 16, 20].map((from, place) => digits.slice(from, [8, 12, 16, 20, 32][place])).join('-');
      return { responseId: uuid, receiptId: uuid };
    }
    case 'same':
      return { responseId: '123456789', receiptId: '123456789' };
    case 'empty':
      return { responseId: '', receiptId: '' };
  }
}

/** An id that no submit was answered with. */
export function wrongId(id: string): string {
  return `9${id}9`.slice(0, 64);
}
