import type { Option } from './option.ts';
import { readSpan } from './span.ts';
import type { Values } from './values.ts';

/** The option of commands that replace a secret. */
export const overlapOption: Option = {
  name: 'overlap',
  value: '<span>',
  summary: 'How long older ones keep working; default 1h, 0 revokes them immediately',
};

export function readOverlap(values: Values): number {
  return readSpan(values.text('overlap') ?? '1h', '--overlap');
}
