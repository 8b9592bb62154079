import { Time } from '../parts/time.tsx';
import { words } from '../words/integrations.tsx';

/** How many secrets or tokens are in force. During a rotation the older ones have an expiry. */
export function InForce({ all }: { all: { ends_at: string | null }[] }) {
  const ends = all.flatMap(({ ends_at }) => ends_at ?? []).toSorted();
  const last = ends.at(-1);
  if (last === undefined) return String(all.length);
  return (
    <>
      {words.page.inForce(all.length, ends.length)} <Time at={last} />
    </>
  );
}
