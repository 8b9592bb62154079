import { Button, SegmentedControl, Skeleton, Stack } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { call, operatorPath, withQuery } from '../../api/call.ts';
import type { GuardHold } from '../../api/operator-types.ts';
import { nameOfHold } from '../../guard/name-of-hold.ts';
import { ConfirmButton } from '../../parts/confirm-button.tsx';
import { Facts } from '../../parts/facts.tsx';
import { EmptyState } from '../../parts/notice/empty-state.tsx';
import { ProblemCallout } from '../../parts/notice/problem-callout.tsx';
import { useToast } from '../../parts/notice/toast.tsx';
import { PageTitle } from '../../parts/page-title.tsx';
import { Tag } from '../../parts/status.tsx';
import { Time } from '../../parts/time.tsx';
import { useList } from '../../session/use-load.ts';
import { words } from '../../words/operator/guard.tsx';
import styles from '../operator.module.css';
import { GuardRules } from './guard-rules.tsx';

const refreshMs = 5000;
const states = [
  { value: 'open', label: words.now },
  { value: 'ended', label: words.over },
];

/** Prefixes, countries and clients that the guard holds back because few codes are entered. */
export default function Guard() {
  const [state, setState] = useState('open');
  const { data, problem, reload, showMore } = useList<GuardHold>(
    withQuery(operatorPath('guard-holds'), { state }),
    refreshMs,
  );
  return (
    <>
      <PageTitle lead={words.lead}>{words.title}</PageTitle>
      <Stack>
        <div>
          <SegmentedControl aria-label={words.which} value={state} onChange={setState} data={states} />
        </div>
        <ProblemCallout problem={problem} onRetry={reload} />
        {data === undefined && problem === undefined && <Skeleton height={140} />}
        {data?.length === 0 && (
          <EmptyState title={state === 'open' ? words.none : words.noneEnded}>{words.noneDetail}</EmptyState>
        )}
        {data?.map((hold) => (
          <Hold key={hold.id} hold={hold} onEnded={reload} />
        ))}
        {showMore && (
          <Button variant="default" onClick={showMore}>
            {words.more}
          </Button>
        )}
        {/* The rules come after the holds, so that the page does not jump when they load. */}
        {data !== undefined && <GuardRules />}
      </Stack>
    </>
  );
}

function Hold({ hold, onEnded }: { hold: GuardHold; onEnded: () => void }) {
  const showToast = useToast();
  const name = nameOf(hold);

  async function end(): Promise<void> {
    await call('POST', operatorPath(`guard-holds/${hold.id}/end`));
    showToast(words.ended(name));
    onEnded();
  }

  return (
    <article className={styles.waiting} aria-label={words.of(name, hold.application_name)}>
      <div className={styles.facts}>
        <h2 className={styles.name}>
          {name} <Tag tone={hold.acts ? 'bad' : 'wait'}>{hold.acts ? words.held : words.reported}</Tag>
        </h2>
        <Facts facts={factsOf(hold)} />
      </div>
      <div className={styles.decide}>
        {hold.ended_at === null && (
          <ConfirmButton label={words.end} about={name} question={words.endQuestion(name)} size="sm" act={end}>
            {words.endDetail}
          </ConfirmButton>
        )}
      </div>
    </article>
  );
}

/** A prefix is short enough to be a title by itself. */
function nameOf(hold: GuardHold): string {
  if (hold.prefix !== null) return `${hold.prefix}…`;
  return hold.group === 'country' ? words.country(hold.country) : nameOfHold(hold);
}

function factsOf(hold: GuardHold): [string, ReactNode][] {
  const {
    application_name,
    country,
    numbers,
    approved,
    least_share,
    blocked,
    began_at,
    ends_at,
    ended_at,
    ended_by,
    ended_by_member,
  } = hold;
  const over = <Time key="over" at={ended_at ?? ends_at} />;
  return [
    [words.application, application_name],
    [words.countryName, country ?? '–'],
    [words.entered, words.share(approved, numbers, Math.round(least_share * 100))],
    [words.blocked, blocked],
    [words.since, <Time key="since" at={began_at} />],
    ended_at === null
      ? [words.ends, over]
      : [
          words.endedAt,
          ended_by === null ? (
            over
          ) : (
            <span key="by">{ended_by_member ? words.byMember(over) : words.byOperator(over)}</span>
          ),
        ],
  ];
}
