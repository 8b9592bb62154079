// What test files that run in one process share, such as a browser: it ends after the last of them.
const endings: (() => Promise<void>)[] = [];
let together = false;

/** Whether several files run in this process. */
export function isTogether(): boolean {
  return together;
}

export function atEnd(end: () => Promise<void>): void {
  endings.push(end);
}

/** For scripts/import-test-files.ts, before the files are imported. */
export function runTogether(): void {
  together = true;
}

/** For scripts/import-test-files.ts, after the last test. */
export async function endShared(): Promise<void> {
  for (const end of endings.reverse()) await end();
}
