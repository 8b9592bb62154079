/** The number without its last four digits. The guard counts neighbouring numbers by it. */
export function prefixOf(to: string): string {
  return to.slice(0, -4);
}

/** Groups of numbers are named like `+44770090****`: a star stands for any digit, so a name also gives the length. */
export function narrowGroupOf(to: string): string {
  return `${prefixOf(to)}****`;
}

/** The number without its last six digits: a range that one network may own. */
export function wideGroupOf(to: string): string {
  return `${to.slice(0, -6)}******`;
}

/** Whether the wide group contains the narrow one. */
export function containsGroup(wide: string, narrow: string): boolean {
  return wide.endsWith('******') && !narrow.endsWith('******') && wideGroupOf(narrow) === wide;
}

/** The prefix of the numbers of a group. */
export function prefixOfGroup(group: string): string {
  return group.replaceAll('*', '');
}
