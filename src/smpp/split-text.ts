// Tests: src/delivery/smpp/submit-parts.test.ts
import { type Coding, leavesSevenBits, unitsOf } from './charset.ts';

/** Units of text in a part of 140 octets: alone, and after a header of 6 or of 7 octets. */
const room: Record<Coding, { alone: number; after6: number; after7: number }> = {
  gsm7: { alone: 160, after6: 153, after7: 152 },
  gsm7packed: { alone: 160, after6: 153, after7: 152 },
  ascii: { alone: 160, after6: 153, after7: 152 },
  latin1: { alone: 140, after6: 134, after7: 133 },
  ucs2: { alone: 70, after6: 67, after7: 66 },
};

export function fitsInOnePart(text: string, coding: Coding): boolean {
  return unitsBetween(text, 0, text.length, coding) <= room[coding].alone;
}

function unitsBetween(text: string, start: number, end: number, coding: Coding): number {
  let units = 0;
  for (let i = start; i < end; i++) units += unitsOf(text.charCodeAt(i), coding);
  return units;
}

/**
 * The parts of a text that needs several. No part ends inside an escape or a surrogate pair, and no part of packed
 * septets but the last ends where it would need padding. `sent` is how many of the header's octets we send ourselves.
 */
export function splitText(text: string, coding: Coding, headerOctets: 6 | 7, sent: number = headerOctets): string[] {
  const most = headerOctets === 6 ? room[coding].after6 : room[coding].after7;
  const parts: string[] = [];
  for (let start = 0; start < text.length; ) {
    const longest = endOfPart(text, start, coding, most);
    const isFilledUp = coding === 'gsm7packed' && leavesSevenBits(unitsBetween(text, start, longest, coding), sent);
    const end = isFilledUp && longest < text.length ? longest - 1 : longest;
    parts.push(text.slice(start, end));
    start = end;
  }
  return parts;
}

function endOfPart(text: string, start: number, coding: Coding, most: number): number {
  let end = start;
  for (let free = most; end < text.length; end++) {
    free -= unitsOf(text.charCodeAt(end), coding);
    if (free < 0) break;
  }
  const isCut = end < text.length && isHigh(text.charCodeAt(end - 1)) && isLow(text.charCodeAt(end));
  return isCut ? end - 1 : end;
}

function isHigh(unit: number): boolean {
  return (unit & 0xfc00) === 0xd800;
}

function isLow(unit: number): boolean {
  return (unit & 0xfc00) === 0xdc00;
}
