import { Skeleton, Stack } from '@mantine/core';
import { call } from '../api/call.ts';
import type { SessionRecord } from '../api/types.ts';
import { ConfirmButton } from '../parts/confirm-button.tsx';
import { ProblemCallout } from '../parts/notice/problem-callout.tsx';
import { useToast } from '../parts/notice/toast.tsx';
import { Panel } from '../parts/panel.tsx';
import { Tag } from '../parts/status.tsx';
import { Table } from '../parts/table/table.tsx';
import { Time } from '../parts/time.tsx';
import { useLoad } from '../session/use-load.ts';
import { words } from '../words/account.ts';

const path = '/portal/v1/me/sessions';

export function Sessions() {
  const showToast = useToast();
  const { data, problem, reload } = useLoad<{ data: SessionRecord[] }>(path);
  const sessions = data?.data ?? [];

  async function end(which: string, said: string): Promise<void> {
    await call('DELETE', which);
    showToast(said);
    reload();
  }

  return (
    <Panel
      title={words.sessions.title}
      lead={words.sessions.lead}
      actions={
        sessions.length > 1 && (
          <ConfirmButton
            label={words.sessions.endOthers}
            question={words.sessions.endOthersQuestion}
            size="sm"
            act={() => end(path, words.sessions.othersEnded)}
          >
            {words.sessions.endOthersDetail}
          </ConfirmButton>
        )
      }
    >
      <Stack>
        <ProblemCallout problem={problem} onRetry={reload} />
        {data === undefined && problem === undefined && <Skeleton height={96} />}
        {sessions.length > 0 && (
          <Table
            label={words.sessions.title}
            columns={[words.sessions.address, words.sessions.signedIn, words.sessions.lastUsed, '']}
            rows={sessions.map(({ id, address, current, created_at, last_seen_at }) => ({
              key: id,
              cells: [
                address,
                <Time key="created" at={created_at} />,
                <Time key="seen" at={last_seen_at} />,
                current ? (
                  <Tag key="end" tone="good">
                    {words.sessions.current}
                  </Tag>
                ) : (
                  <ConfirmButton
                    key="end"
                    label={words.sessions.end}
                    about={words.sessions.from(address)}
                    question={words.sessions.endQuestion}
                    act={() => end(`${path}/${id}`, words.sessions.ended)}
                  >
                    {words.sessions.endDetail(address)}
                  </ConfirmButton>
                ),
              ],
            }))}
          />
        )}
      </Stack>
    </Panel>
  );
}
