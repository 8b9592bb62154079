import { Button, Skeleton, Stack } from '@mantine/core';
import { useState } from 'react';
import { applicationPath, call } from '../api/call.ts';
import type { SenderRecord } from '../api/operator-types.ts';
import { useList } from '../api/use-load.ts';
import type { TabProps } from '../applications/application-page.tsx';
import { ConfirmButton } from '../parts/confirm-button.tsx';
import { EmptyState } from '../parts/empty-state.tsx';
import { Icon } from '../parts/icon.tsx';
import { Panel } from '../parts/panel.tsx';
import { ProblemCallout } from '../parts/problem-callout.tsx';
import { Status } from '../parts/status.tsx';
import { Table } from '../parts/table.tsx';
import { useToast } from '../parts/toast.tsx';
import { useSession } from '../session/session.tsx';
import { AskForSender } from './ask-for-sender.tsx';

const refreshMs = 5000;
const columns = ['Sender', 'Countries', 'Status', 'Reason', ''];

/** What the application may send as. */
export default function Senders({ application }: TabProps) {
  const showToast = useToast();
  const { service } = useSession();
  const [asking, setAsking] = useState(false);
  const path = applicationPath(application.id, '/senders');
  const { data, problem, reload, showMore } = useList<SenderRecord>(path, refreshMs);
  const ask = (
    <Button variant="default" leftSection={<Icon name="plus" />} onClick={() => setAsking(true)}>
      Ask for a sender
    </Button>
  );

  async function remove({ id, sender }: SenderRecord): Promise<void> {
    await call('DELETE', `${path}/${id}`);
    showToast(`${sender} removed.`);
    reload();
  }

  return (
    <Panel
      title="Senders"
      lead={
        service.environment === 'sandbox'
          ? 'In the sandbox you can send as anything. In production, an operator approves each sender.'
          : 'What your texts may say they are from. An operator approves each one.'
      }
      actions={data?.length ? ask : undefined}
    >
      <Stack>
        <ProblemCallout problem={problem} onRetry={reload} />
        {data === undefined && problem === undefined && <Skeleton height={120} />}
        {data?.length === 0 && (
          <EmptyState title="No senders" action={ask}>
            A sender is a name of up to 11 characters, or a number that you hold.
          </EmptyState>
        )}
        {data !== undefined && data.length > 0 && (
          <Table
            label="Senders"
            columns={columns}
            rows={data.map((each) => ({
              key: each.id,
              cells: [
                <strong key="sender">{each.sender}</strong>,
                each.countries.length === 0 ? 'All' : each.countries.join(', '),
                <Status key="status" state={each.status} />,
                each.reason ?? '–',
                <ConfirmButton
                  key="remove"
                  label="Remove"
                  about={each.sender}
                  question={`Remove ${each.sender}?`}
                  act={() => remove(each)}
                >
                  Texts from it are then refused. To use it again, you have to ask for it again.
                </ConfirmButton>,
              ],
            }))}
          />
        )}
        {showMore && (
          <Button variant="default" onClick={showMore}>
            Show more
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
