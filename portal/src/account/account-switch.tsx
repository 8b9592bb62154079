import { Button } from '@mantine/core';
import { call } from '../api/call.ts';
import type { Account } from '../api/types.ts';
import { ProblemCallout } from '../parts/notice/problem-callout.tsx';
import { useToast } from '../parts/notice/toast.tsx';
import { Panel } from '../parts/panel.tsx';
import { Tag } from '../parts/status.tsx';
import { Table } from '../parts/table/table.tsx';
import { useSession } from '../session/session.tsx';
import { useAction } from '../session/use-action.ts';
import { words } from '../words/account.ts';

/** Lets a member of several accounts choose which one the pages show. */
export function AccountSwitch({ account }: { account: Account }) {
  const { refresh } = useSession();
  const showToast = useToast();
  const { run, busy, problem } = useAction(async ({ id, name }: { id: string; name: string }) => {
    await call('POST', '/portal/v1/sessions/current', { body: { account_id: id } });
    await refresh();
    showToast(words.accounts.switched(name));
  });
  return (
    <Panel title={words.accounts.title} lead={words.accounts.lead}>
      <ProblemCallout problem={problem} />
      <Table
        label={words.accounts.title}
        columns={[words.accounts.account, words.accounts.role, '']}
        rows={account.accounts.map((each) => ({
          key: each.id,
          cells: [
            each.name,
            each.role,
            each.id === account.id ? (
              <Tag key="act" tone="good">
                {words.accounts.shown}
              </Tag>
            ) : (
              <Button
                key="act"
                variant="default"
                size="xs"
                loading={busy}
                onClick={() => run(each)}
                aria-label={words.accounts.switchTo(each.name)}
              >
                {words.accounts.switch}
              </Button>
            ),
          ],
        }))}
      />
    </Panel>
  );
}
