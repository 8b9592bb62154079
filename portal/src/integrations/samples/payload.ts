import { type PointerName, type Pointers, pointerNames } from '../pointers.ts';

const sampleValues: Record<PointerName, string> = {
  to: '+15005550100',
  code: '482910',
  text: '482910 is your code.',
  locale: 'de',
  ip: '203.0.113.7',
};

/** A payload with a value wherever a pointer leads. */
export function samplePayload(pointers: Pointers): object {
  const payload: Record<string, unknown> = {};
  for (const name of pointerNames) {
    const [, ...path] = (pointers[name] ?? '').split('/').map(plainPart);
    const last = path.pop();
    if (last !== undefined) openAt(payload, path)[last] = sampleValues[name];
  }
  return payload;
}

const plainPart = (part: string) => part.replaceAll('~1', '/').replaceAll('~0', '~');

function openAt(payload: Record<string, unknown>, path: string[]): Record<string, unknown> {
  let here = payload;
  for (const name of path) {
    const next = here[name];
    // Invalid pointers may conflict, if one leads into another's value: replace that value.
    const opened = typeof next === 'object' && next !== null ? (next as Record<string, unknown>) : {};
    here[name] = opened;
    here = opened;
  }
  return here;
}
