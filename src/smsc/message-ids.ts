// Tests: test/smpp/smsc.test.ts
import type { Behaviour } from './faults.ts';

/** The id of a text, as the answer to its submit and as its receipt write it. */
export interface MessageIds {
  responseId: string;
  receiptId: string;
}

export function writeIds(id: number, form: Behaviour['ids']): MessageIds {
  switch (form) {
    case 'dec':
      return same(String(id));
    case 'hex':
      return same(id.toString(16));
    case 'hex-dec':
      return { responseId: id.toString(16), receiptId: String(id) };
    case 'padded':
      return { responseId: String(id), receiptId: String(id).padStart(20, '0') };
    case 'uuid':
      return same(toUuid(id));
    case 'same':
      return same('123456789');
    case 'empty':
      return same('');
  }
}

function same(id: string): MessageIds {
  return { responseId: id, receiptId: id };
}

function toUuid(id: number): string {
  const digits = id.toString(16).padStart(32, '0');
  return [digits.slice(0, 8), digits.slice(8, 12), digits.slice(12, 16), digits.slice(16, 20), digits.slice(20)].join(
    '-',
  );
}

/** An id that no submit was answered with. */
export function wrongId(id: string): string {
  return `9${id}9`.slice(0, 64);
}
