import { Button, Skeleton, Stack, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { call, operatorPath, withQuery } from '../../api/call.ts';
import type { OptOut } from '../../api/operator-types.ts';
import { Icon } from '../../parts/icon.tsx';
import { EmptyState } from '../../parts/notice/empty-state.tsx';
import { ProblemCallout } from '../../parts/notice/problem-callout.tsx';
import { useToast } from '../../parts/notice/toast.tsx';
import { PageTitle } from '../../parts/page-title.tsx';
import { Panel } from '../../parts/panel.tsx';
import { ReasonButton } from '../../parts/reason-button.tsx';
import { Table } from '../../parts/table/table.tsx';
import { Time } from '../../parts/time.tsx';
import { useList } from '../../session/use-load.ts';
import { words } from '../../words/operator/opt-outs.ts';
import { ApplicationLink } from '../application-link.tsx';
import styles from '../operator.module.css';

export default function OptOuts() {
  const [typed, setTyped] = useState('');
  const [number, setNumber] = useState('');

  function submit(event: FormEvent): void {
    event.preventDefault();
    setNumber(typed);
  }

  return (
    <>
      <PageTitle lead={words.lead}>{words.title}</PageTitle>
      <Stack gap="lg">
        <form className={styles.search} onSubmit={submit}>
          <TextInput
            label={words.number}
            type="tel"
            placeholder="+447700900123"
            value={typed}
            onChange={(event) => setTyped(event.currentTarget.value.trim())}
          />
          <Button type="submit" variant="default" leftSection={<Icon name="search" size={16} />}>
            {words.find}
          </Button>
        </form>
        <Found key={number} number={number} />
      </Stack>
    </>
  );
}

const columns = [words.number, words.of, words.by, words.word, words.since, ''];
const sources: Record<string, string> = {
  mo: words.sources.mo,
  api: words.sources.api,
  carrier: words.sources.carrier,
  portal: words.sources.portal,
  operator: words.sources.operator,
};

function Found({ number }: { number: string }) {
  const showToast = useToast();
  const { data, problem, reload, showMore } = useList<OptOut>(withQuery(operatorPath('opt-outs'), { number }));

  async function undo(optedOut: string, reason: string): Promise<void> {
    await call('DELETE', withQuery(operatorPath(`opt-outs/${encodeURIComponent(optedOut)}`), { reason }));
    showToast(words.undone(optedOut));
    reload();
  }

  if (data === undefined) {
    return problem === undefined ? <Skeleton height={120} /> : <ProblemCallout problem={problem} onRetry={reload} />;
  }
  if (data.length === 0) {
    return <EmptyState title={number === '' ? words.none : words.notOptedOut(number)}>{words.noneDetail}</EmptyState>;
  }
  return (
    <Panel>
      <Table
        label={words.title}
        columns={columns}
        rows={data.map((each, index) => ({
          key: `${each.created_at} ${index}`,
          cells: [
            each.number,
            each.application_id === null ? each.sender : <ApplicationLink key="scope" id={each.application_id} />,
            sources[each.source] ?? each.source,
            each.word ?? '–',
            <Time key="at" at={each.created_at} />,
            isWhole(each.number) && (
              <ReasonButton
                key="undo"
                size="xs"
                label={words.undo}
                about={words.about(each.number)}
                question={words.question(each.number)}
                description={words.reasonRule}
                act={(reason) => undo(each.number, reason)}
              >
                {words.detail}
              </ReasonButton>
            ),
          ],
        }))}
      />
      {showMore && (
        <Button variant="default" size="xs" mt="sm" onClick={showMore}>
          {words.more}
        </Button>
      )}
    </Panel>
  );
}

/** After the retention time the number is masked. An operator who knows it can search for it and remove its opt-outs. */
function isWhole(number: string): boolean {
  return /^\+[0-9]+$/.test(number);
}
