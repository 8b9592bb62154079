import { Button, Skeleton, Stack } from '@mantine/core';
import { useState } from 'react';
import { applicationPath, call } from '../api/call.ts';
import type { SenderRecord } from '../api/operator-types.ts';
import { ConfirmButton } from '../parts/confirm-button.tsx';
import { Icon } from '../parts/icon.tsx';
import { EmptyState } from '../parts/notice/empty-state.tsx';
import { ProblemCallout } from '../parts/notice/problem-callout.tsx';
import { useToast } from '../parts/notice/toast.tsx';
import { Panel } from '../parts/panel.tsx';
import { Status } from '../parts/status.tsx';
import type { TabProps } from '../parts/tab-props.ts';
import { Table } from '../parts/table/table.tsx';
import { useCanChange } from '../session/role.ts';
import { useSession } from '../session/session.tsx';
import { useList } from '../session/use-load.ts';
import { words } from '../words/senders.ts';
import { AskForSender } from './ask-for-sender.tsx';

const refreshMs = 5000;
const columns = [words.sender, words.countries, words.status, words.reason, ''];

/** The senders of the application. */
export default function Senders({ application }: TabProps) {
  const showToast = useToast();
  const { service } = useSession();
  const canChange = useCanChange();
  const [asking, setAsking] = useState(false);
  const path = applicationPath(application.id, '/senders');
  const { data, problem, reload, showMore } = useList<SenderRecord>(path, refreshMs);
  const ask = canChange && (
    <Button variant="default" leftSection={<Icon name="plus" />} onClick={() => setAsking(true)}>
      {words.request.title}
    </Button>
  );

  async function remove({ id, sender }: SenderRecord): Promise<void> {
    await call('DELETE', `${path}/${id}`);
    showToast(`${sender} removed.`);
    reload();
  }

  return (
    <Panel
      title={words.title}
      lead={service.environment === 'sandbox' ? words.leadSandbox : words.lead}
      actions={data?.length ? ask : undefined}
    >
      <Stack>
        <ProblemCallout problem={problem} onRetry={reload} />
        {data === undefined && problem === undefined && <Skeleton height={120} />}
        {data?.length === 0 && (
          <EmptyState title={words.empty.title} action={ask}>
            {words.empty.next}
          </EmptyState>
        )}
        {data !== undefined && data.length > 0 && (
          <Table
            label={words.title}
            columns={columns}
            rows={data.map((each) => ({
              key: each.id,
              cells: [
                <strong key="sender">{each.sender}</strong>,
                each.countries.length === 0 ? words.all : each.countries.join(', '),
                <Status key="status" state={each.status} />,
                each.reason ?? '–',
                canChange && (
                  <ConfirmButton
                    key="remove"
                    label={words.remove.label}
                    about={each.sender}
                    question={words.remove.question(each.sender)}
                    act={() => remove(each)}
                  >
                    {words.remove.detail}
                  </ConfirmButton>
                ),
              ],
            }))}
          />
        )}
        {showMore && (
          <Button variant="default" onClick={showMore}>
            {words.more}
          </Button>
        )}
      </Stack>
      {asking && (
        <AskForSender
          path={path}
          onClose={() => setAsking(false)}
          onAsked={() => {
            setAsking(false);
            reload();
          }}
        />
      )}
    </Panel>
  );
}
