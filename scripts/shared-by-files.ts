// What the test files of a process share, such as a browser: it ends after the last of them.
const endings: (() => Promise<void>)[] = [];

export function atEnd(end: () => Promise<void>): void {
  endings.push(end);
}

/** For scripts/import-test-files.ts, after the last test. */
export async function endShared(): Promise<void> {
  for (const end of endings.reverse()) await end();
}
