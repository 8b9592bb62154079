import { applicationPath } from '../api/call.ts';
import type { OwnGuardHold } from '../api/record-types.ts';
import type { Page } from '../api/types.ts';
import { Callout } from '../parts/notice/callout.tsx';
import { Time } from '../parts/time.tsx';
import { useLoad } from '../session/use-load.ts';
import { words as allWords } from '../words/records.tsx';

const words = allWords.heldBack;

/** Explains to the developer why a verification was held back, and until when. */
export function HeldBack({ applicationId, to }: { applicationId: string; to: string }) {
  const { data } = useLoad<Page<OwnGuardHold>>(applicationPath(applicationId, '/guard-holds?state=open&limit=100'));
  const holds = data?.data.filter(({ acts }) => acts) ?? [];
  // The number of an old verification is masked.
  const hold =
    holds.find(({ prefix }) => prefix !== null && to.startsWith(prefix)) ?? holds.find(({ prefix }) => prefix === null);
  return (
    <Callout tone="wait" quiet title={words.title}>
      {hold === undefined
        ? words.over
        : words.holds(hold.numbers, whichOf(hold), hold.approved, <Time at={hold.ends_at} />)}
    </Callout>
  );
}

function whichOf({ group, prefix, country }: OwnGuardHold): string {
  if (group === 'prefix') return words.withPrefix(prefix ?? '');
  return group === 'country' ? words.inCountry(country ?? '') : words.fromClient[group];
}
