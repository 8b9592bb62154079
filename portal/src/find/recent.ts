import { readPageState, writePageState } from '../session/page-state.ts';

const key = 'recent-searches';
const most = 6;

/** Searches that led somewhere, newest first. They are kept in memory, until a reload or sign-out. */
export function readRecent(): string[] {
  return readPageState<string[]>(key, []);
}

export function addRecent(query: string): void {
  const text = query.trim();
  if (text === '') return;
  writePageState(key, [text, ...readRecent().filter((each) => each !== text)].slice(0, most));
}
