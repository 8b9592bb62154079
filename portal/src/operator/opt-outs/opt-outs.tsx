import { Button, Skeleton, Stack, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { call, operatorPath, withQuery } from '../../api/call.ts';
import type { OptOut } from '../../api/operator-types.ts';
import { useList } from '../../api/use-load.ts';
import { EmptyState } from '../../parts/empty-state.tsx';
import { Icon } from '../../parts/icon.tsx';
import { PageTitle } from '../../parts/page-title.tsx';
import { Panel } from '../../parts/panel.tsx';
import { ProblemCallout } from '../../parts/problem-callout.tsx';
import { ReasonButton } from '../../parts/reason-button.tsx';
import { Table } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { useToast } from '../../parts/toast.tsx';
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
      <PageTitle lead="People who want no texts. A stop word is undone by its sender, or here with a reason.">
        Opt-outs
      </PageTitle>
      <Stack gap="lg">
        <form className={styles.search} onSubmit={submit}>
          <TextInput
            label="Number"
            type="tel"
            placeholder="+447700900123"
            value={typed}
            onChange={(event) => setTyped(event.currentTarget.value.trim())}
          />
          <Button type="submit" variant="default" leftSection={<Icon name="search" size={16} />}>
            Find
          </Button>
        </form>
        <Found key={number} number={number} />
      </Stack>
    </>
  );
}

const columns = ['Number', 'Wants no texts of', 'Said by', 'Word', 'Since', ''];
const sources: Record<string, string> = {
  mo: 'the person, by a text',
  api: 'the application',
  carrier: 'the carrier',
  portal: 'the developer',
  operator: 'an operator',
};

function Found({ number }: { number: string }) {
  const showToast = useToast();
  const { data, problem, reload, showMore } = useList<OptOut>(withQuery(operatorPath('opt-outs'), { number }));

  async function undo(optedOut: string, reason: string): Promise<void> {
    await call('DELETE', withQuery(operatorPath(`opt-outs/${encodeURIComponent(optedOut)}`), { reason }));
    showToast(`${optedOut} gets texts again.`);
    reload();
  }

  if (data === undefined) {
    return problem === undefined ? <Skeleton height={120} /> : <ProblemCallout problem={problem} onRetry={reload} />;
  }
  if (data.length === 0) {
    return (
      <EmptyState title={number === '' ? 'No opt-outs' : `${number} has not opted out`}>
        Stop words, the APIs and carriers’ errors appear here.
      </EmptyState>
    );
  }
  return (
    <Panel>
      <Table
        label="Opt-outs"
        columns={columns}
        rows={data.map((each, index) => ({
          key: `${each.created_at} ${index}`,
          cells: [
            each.number,
            each.scope === 'sender' ? each.sender : <code key="scope">{each.application_id}</code>,
            sources[each.source] ?? each.source,
            each.word ?? '–',
            <Time key="at" at={each.created_at} />,
            isWhole(each.number) && (
              <ReasonButton
                key="undo"
                size="xs"
                label="Undo"
                about={`the opt-outs of ${each.number}`}
                question={`Send texts to ${each.number} again?`}
                description="It is kept for good, with your name."
                act={(reason) => undo(each.number, reason)}
              >
                This undoes every opt-out of the number. The person must have asked for texts.
              </ReasonButton>
            ),
          ],
        }))}
      />
      {showMore && (
        <Button variant="default" size="xs" mt="sm" onClick={showMore}>
          Show more
        </Button>
      )}
    </Panel>
  );
}

/** After the retention time only an operator who knows the number can undo its opt-outs, by looking for it. */
function isWhole(number: string): boolean {
  return /^\+[0-9]+$/.test(number);
}
