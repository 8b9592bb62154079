import { Button, Skeleton, Stack, TextInput } from '@mantine/core';
import { useState } from 'react';
import { operatorPath, withQuery } from '../../api/call.ts';
import type { TotalsReport } from '../../api/operator-types.ts';
import { Check } from '../../parts/check.tsx';
import { Callout } from '../../parts/notice/callout.tsx';
import { EmptyState } from '../../parts/notice/empty-state.tsx';
import { ProblemCallout } from '../../parts/notice/problem-callout.tsx';
import { PageTitle } from '../../parts/page-title.tsx';
import { Panel } from '../../parts/panel.tsx';
import { useLoad } from '../../session/use-load.ts';
import { words } from '../../words/operator/totals.ts';
import styles from '../operator.module.css';
import { TotalsTable } from './totals-table.tsx';

const groups = ['carrier', 'country', 'channel', 'sender', 'application', 'day'];
const dayMs = 86_400_000;

export default function Totals() {
  const [from, setFrom] = useState(() => dayOf(Date.now() - 29 * dayMs));
  const [to, setTo] = useState(() => dayOf(Date.now()));
  const [by, setBy] = useState(['carrier', 'country']);
  const query = { from, to, by: groups.filter((group) => by.includes(group)).join(',') };
  return (
    <>
      <PageTitle
        lead={words.lead}
        actions={
          <Button component="a" href={withQuery(operatorPath('totals.csv'), query)} variant="default" download>
            {words.download}
          </Button>
        }
      >
        {words.title}
      </PageTitle>
      <Stack>
        <div className={styles.search}>
          <TextInput
            label={words.from}
            type="date"
            value={from}
            onChange={(event) => setFrom(event.currentTarget.value)}
          />
          <TextInput label={words.to} type="date" value={to} onChange={(event) => setTo(event.currentTarget.value)} />
          <fieldset className={styles.groups}>
            <legend>{words.groups}</legend>
            {groups.map((group) => (
              <Check
                key={group}
                label={group}
                checked={by.includes(group)}
                onChange={(checked) => setBy(checked ? [...by, group] : by.filter((each) => each !== group))}
              />
            ))}
          </fieldset>
        </div>
        <Report key={JSON.stringify(query)} path={withQuery(operatorPath('totals'), query)} />
      </Stack>
    </>
  );
}

function Report({ path }: { path: string }) {
  const { data, problem, reload } = useLoad<TotalsReport>(path);
  if (data === undefined) {
    return problem === undefined ? <Skeleton height={220} /> : <ProblemCallout problem={problem} onRetry={reload} />;
  }
  if (data.data.length === 0) return <EmptyState title={words.none}>{words.noneNext}</EmptyState>;
  return (
    <>
      {data.truncated && <Callout tone="wait" title={words.tooMany} />}
      <Panel>
        <TotalsTable report={data} />
      </Panel>
    </>
  );
}

/** Days are UTC. */
function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}
