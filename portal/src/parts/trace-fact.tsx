import { words as allWords } from '../words/requests.tsx';
import { CopyButton } from './copy-button.tsx';

const words = allWords.trace;

/** The trace id of a sampled request, to be pasted into the tool that has its spans. */
export function traceFact(id: string | null): [string, React.ReactNode][] {
  if (id === null) return [];
  const shown = (
    <>
      <code>{id}</code> <CopyButton text={id} what={words.traceId} small />
    </>
  );
  return [[words.trace, shown]];
}
