import { Button, Stack, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { applicationPath, call, withQuery } from '../api/call.ts';
import type { OwnOptOut } from '../api/record-types.ts';
import { ConfirmButton } from '../parts/confirm-button.tsx';
import { EmptyState } from '../parts/notice/empty-state.tsx';
import { ProblemCallout } from '../parts/notice/problem-callout.tsx';
import { useToast } from '../parts/notice/toast.tsx';
import { Panel } from '../parts/panel.tsx';
import { FindForm } from '../parts/table/find-form.tsx';
import { ShowMore } from '../parts/table/show-more.tsx';
import { Table } from '../parts/table/table.tsx';
import { Time } from '../parts/time.tsx';
import { useCanChange } from '../session/role.ts';
import { useAction } from '../session/use-action.ts';
import { useList } from '../session/use-load.ts';
import { words as allWords } from '../words/inbound.ts';
import styles from './inbound.module.css';

const words = allWords.optOuts;
const refreshMs = 5000;

/** The people who want no texts of the application. A developer adds a number, and removes what was added. */
export function OptOuts({ applicationId }: { applicationId: string }) {
  const canChange = useCanChange();
  const showToast = useToast();
  const [to, setTo] = useState('');
  const path = applicationPath(applicationId, '/opt-outs');
  const { data, problem, reload, showMore } = useList<OwnOptOut>(withQuery(path, { to }), refreshMs);

  async function remove(number: string): Promise<void> {
    await call('DELETE', `${path}/${encodeURIComponent(number)}`);
    showToast(words.removed(number));
    reload();
  }

  return (
    <Panel title={words.title} lead={words.lead}>
      <Stack>
        {canChange && <AddOptOut path={path} onAdded={reload} />}
        <FindForm
          fields={{ to: { label: words.find, example: '+447700900123' } }}
          initial={{ to }}
          onFind={(wanted) => setTo(wanted.to)}
        />
        <ProblemCallout problem={problem} onRetry={reload} />
        {data?.length === 0 && (
          <EmptyState title={to === '' ? words.none : words.notOptedOut(to)}>
            {to === '' ? words.noneNext : ''}
          </EmptyState>
        )}
        {data !== undefined && data.length > 0 && (
          <Table
            label={words.table}
            columns={words.columns}
            rows={data.map(({ number, source, word, created_at }) => ({
              key: `${number} ${created_at}`,
              cells: [
                number,
                word === null ? (words.sources[source] ?? source) : words.wrote(word),
                <Time key="at" at={created_at} />,
                source === 'api' && canChange ? (
                  <ConfirmButton
                    key="remove"
                    label={words.remove}
                    about={number}
                    question={words.removeQuestion(number)}
                    act={() => remove(number)}
                  >
                    {words.removeEffect}
                  </ConfirmButton>
                ) : (
                  ''
                ),
              ],
            }))}
          />
        )}
        <ShowMore onClick={showMore} />
      </Stack>
    </Panel>
  );
}

function AddOptOut({ path, onAdded }: { path: string; onAdded: () => void }) {
  const showToast = useToast();
  const [number, setNumber] = useState('');
  const { run, busy, problem } = useAction(async () => {
    const added = await call<OwnOptOut>('PUT', `${path}/${encodeURIComponent(number.trim())}`);
    showToast(words.added(added.number));
    setNumber('');
    onAdded();
  });

  function submit(event: FormEvent): void {
    event.preventDefault();
    run();
  }

  return (
    <form onSubmit={submit} noValidate className={styles.add}>
      <TextInput
        label={words.number}
        type="tel"
        placeholder="+447700900123"
        value={number}
        onChange={(event) => setNumber(event.currentTarget.value)}
        error={problem?.of('number')}
      />
      <Button type="submit" variant="default" loading={busy} disabled={number.trim() === ''}>
        {words.add}
      </Button>
      <ProblemCallout problem={problem} fields={['number']} />
    </form>
  );
}
