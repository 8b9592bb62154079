/**
 * Removes trailing characters that match `last`, one at a time. A regular expression with `+$` would take quadratic
 * time on long runs.
 */
export function trimEnd(text: string, last: RegExp): string {
  let end = text.length;
  while (end > 0) {
    const isPair = end > 1 && (text.codePointAt(end - 2) ?? 0) > 0xffff;
    const start = isPair ? end - 2 : end - 1;
    if (!last.test(text.slice(start, end))) break;
    end = start;
  }
  return text.slice(0, end);
}
