import { Button, Skeleton, Stack } from '@mantine/core';
import { applicationPath } from '../api/call.ts';
import type { InboundText } from '../api/operator-types.ts';
import { useList } from '../api/use-load.ts';
import type { TabProps } from '../applications/application-page.tsx';
import { EmptyState } from '../parts/empty-state.tsx';
import { Panel } from '../parts/panel.tsx';
import { ProblemCallout } from '../parts/problem-callout.tsx';
import { Tag } from '../parts/status.tsx';
import { Table } from '../parts/table.tsx';
import { Time } from '../parts/time.tsx';
import { useSession } from '../session/session.tsx';
import { HelpText } from './help-text.tsx';

const refreshMs = 2000;
const columns = ['Received', 'From', 'To', 'Text'];

/** What people texted to the application, and what a help word gets. */
export default function Inbound({ application, onChange }: TabProps) {
  const { service } = useSession();
  const { data, problem, reload, showMore } = useList<InboundText>(
    applicationPath(application.id, '/inbound'),
    refreshMs,
  );
  return (
    <Stack gap="lg">
      <Panel title="Inbound texts" lead="What people texted to your numbers, newest first.">
        <Stack>
          <ProblemCallout problem={problem} onRetry={reload} />
          {data === undefined && problem === undefined && <Skeleton height={120} />}
          {data?.length === 0 && (
            <EmptyState title="No inbound texts yet">
              {service.environment === 'sandbox'
                ? 'Answer a text on the virtual handset, under Try it.'
                : 'An operator gives a number to your application. What people text to it appears here.'}
            </EmptyState>
          )}
          {data !== undefined && data.length > 0 && (
            <Table
              label="Inbound texts"
              columns={columns}
              rows={data.map((text) => ({
                key: text.id,
                cells: [
                  <Time key="at" at={text.received_at} />,
                  text.from,
                  text.to,
                  <div key="text">
                    {text.message ?? 'Text removed'} {text.partial && <Tag tone="wait">parts are missing</Tag>}
                    {text.possible_opt_out && <Tag tone="wait">may want no more texts</Tag>}
                  </div>,
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
      </Panel>
      <HelpText application={application} onChange={onChange} />
    </Stack>
  );
}
