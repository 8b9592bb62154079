import { Button, Skeleton, Stack } from '@mantine/core';
import { applicationPath } from '../api/call.ts';
import type { InboundText } from '../api/operator-types.ts';
import { EmptyState } from '../parts/notice/empty-state.tsx';
import { ProblemCallout } from '../parts/notice/problem-callout.tsx';
import { Panel } from '../parts/panel.tsx';
import { Tag } from '../parts/status.tsx';
import type { TabProps } from '../parts/tab-props.ts';
import { Table } from '../parts/table/table.tsx';
import { Time } from '../parts/time.tsx';
import { useCanChange } from '../session/role.ts';
import { useSession } from '../session/session.tsx';
import { useList } from '../session/use-load.ts';
import { words } from '../words/inbound.ts';
import { HelpText } from './help-text.tsx';
import styles from './inbound.module.css';
import { OptOuts } from './opt-outs.tsx';

const refreshMs = 2000;
const columns = [words.received, words.from, words.to, words.text];

/** Texts that people sent to the application, and the reply to HELP. */
export default function Inbound({ application, onChange }: TabProps) {
  const { service } = useSession();
  const canChange = useCanChange();
  const { data, problem, reload, showMore } = useList<InboundText>(
    applicationPath(application.id, '/inbound'),
    refreshMs,
  );
  return (
    <Stack gap="lg">
      <Panel title={words.title} lead={words.lead}>
        <Stack>
          <ProblemCallout problem={problem} onRetry={reload} />
          {data === undefined && problem === undefined && <Skeleton height={120} />}
          {data?.length === 0 && (
            <EmptyState title={words.empty.title}>
              {service.environment === 'sandbox' ? words.empty.sandbox : words.empty.production}
            </EmptyState>
          )}
          {data !== undefined && data.length > 0 && (
            <Table
              label={words.table}
              columns={columns}
              rows={data.map((text) => ({
                key: text.id,
                cells: [
                  <Time key="at" at={text.received_at} />,
                  text.from,
                  text.to,
                  <div key="text" className={styles.text}>
                    {text.message ?? words.removed}
                    {text.word !== null && (
                      <Tag tone={text.word === 'stop' ? 'bad' : 'calm'}>{words.kinds[text.word]}</Tag>
                    )}
                    {text.partial && <Tag tone="wait">{words.incomplete}</Tag>}
                    {text.possible_opt_out && <Tag tone="wait">{words.maybeOptOut}</Tag>}
                  </div>,
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
      </Panel>
      <OptOuts applicationId={application.id} />
      {canChange && <HelpText application={application} onChange={onChange} />}
    </Stack>
  );
}
