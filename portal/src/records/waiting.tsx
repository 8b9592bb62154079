import { Callout } from '../parts/notice/callout.tsx';
import { words } from '../words/records.tsx';

/** Why a text has not been sent yet. */
export function Waiting({ reason }: { reason: string | null }) {
  if (reason === null) return null;
  return (
    <Callout tone="wait" title={words.waiting}>
      {reason}
    </Callout>
  );
}
