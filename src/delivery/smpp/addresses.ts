// Tests: src/delivery/smpp/submit-parts.test.ts
import type { SmppSettings } from './settings.ts';

export interface Address {
  ton: number;
  npi: number;
  address: string;
}

type Overrides = SmppSettings['ton_npi'];
type Kind = keyof Overrides;

/** Type of number and numbering plan, as most carriers want them. */
const usual: Record<Kind, { ton: number; npi: number }> = {
  international: { ton: 1, npi: 1 },
  alphanumeric: { ton: 5, npi: 0 },
  short_code: { ton: 3, npi: 0 },
  national: { ton: 2, npi: 1 },
  destination: { ton: 1, npi: 1 },
};

/** The most characters that source_addr and destination_addr hold. */
const longestAddress = 20;

/** Senders are ASCII (src/messages/numbers/sender.ts); in an address `@` is ASCII too, since GSM's 0x00 would end it. */
export function sourceAddress(from: string, overrides: Overrides): Address {
  const kind = kindOf(from);
  const { ton, npi } = overrides[kind] ?? usual[kind];
  return { ton, npi, address: kind === 'alphanumeric' ? toAscii(from) : digitsOf(from) };
}

export function destinationAddress(to: string, overrides: Overrides): Address {
  const { ton, npi } = overrides.destination ?? usual.destination;
  return { ton, npi, address: digitsOf(to) };
}

/** Short codes have 3 to 8 digits. */
function kindOf(from: string): Exclude<Kind, 'destination'> {
  if (/^\+[0-9]+$/.test(from)) return 'international';
  if (/^[0-9]{1,8}$/.test(from)) return 'short_code';
  return /^[0-9]+$/.test(from) ? 'national' : 'alphanumeric';
}

/** The first line is the fast path: nearly all numbers are a plus and digits already. */
function digitsOf(number: string): string {
  if (/^\+[0-9]{1,20}$/.test(number)) return number.slice(1);
  return number
    .slice(0, longestAddress + 1)
    .replaceAll(/[^0-9]/g, '')
    .slice(0, longestAddress);
}

function toAscii(name: string): string {
  if (/^[\x20-\x7e]{1,20}$/.test(name)) return name;
  return name.slice(0, longestAddress).replaceAll(/[^\x20-\x7e]/g, '?');
}
