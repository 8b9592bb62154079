import { Stack, Title } from '@mantine/core';
import { call } from '../../api/call.ts';
import type { NewSmppAccount, SmppAccount } from '../../api/types.ts';
import { ConfirmButton } from '../../parts/confirm-button.tsx';
import { Facts } from '../../parts/facts.tsx';
import { useToast } from '../../parts/notice/toast.tsx';
import { Panel } from '../../parts/panel.tsx';
import { Time } from '../../parts/time.tsx';
import { useCanChange } from '../../session/role.ts';
import { Rotate } from '../../webhooks/rotate.tsx';
import { words } from '../../words/smpp.tsx';
import styles from '../integrations.module.css';
import { InForce } from '../secrets-in-force.tsx';
import { BindTable, ProblemTable } from './bind-table.tsx';
import { Settings } from './settings.tsx';
import { TestReceivers } from './test-receivers.tsx';

interface AccountPanelProps {
  account: SmppAccount;
  /** The path of all accounts in the API. */
  path: string;
  onChange: () => void;
  onRotated: (made: NewSmppAccount) => void;
}

/** One account: its settings, its binds now, and what was refused. */
export function AccountPanel({ account, path, onChange, onRotated }: AccountPanelProps) {
  const showToast = useToast();
  const canChange = useCanChange();
  const own = `${path}/${account.id}`;
  return (
    <Panel title={account.system_id}>
      <Stack>
        <Settings account={account} />
        <Facts facts={factsOf(account)} />
        <Title order={3}>{words.bound}</Title>
        {account.bound.length === 0 ? <p className={styles.hint}>{words.notBound}</p> : <BindTable {...account} />}
        <Title order={3}>{words.problems}</Title>
        {account.problems.length === 0 ? (
          <p className={styles.hint}>{words.noProblems}</p>
        ) : (
          <ProblemTable {...account} />
        )}
        {canChange && (
          <>
            <TestReceivers path={own} />
            <div className={styles.actions}>
              <Rotate
                what={words.what}
                older={words.older}
                rotate={async (overlapSeconds) => {
                  const body = { overlap_seconds: overlapSeconds };
                  onRotated(await call<NewSmppAccount>('POST', `${own}/passwords`, { body }));
                }}
              />
              <ConfirmButton
                label={words.delete}
                size="sm"
                question={words.deleteQuestion}
                act={async () => {
                  await call('DELETE', own);
                  showToast(words.deleted);
                  onChange();
                }}
              >
                {words.deleteDetail}
              </ConfirmButton>
            </div>
          </>
        )}
      </Stack>
    </Panel>
  );
}

function factsOf({ passwords, addresses, binds, waiting, created_at }: SmppAccount): [string, React.ReactNode][] {
  const { count, since } = waiting;
  return [
    [words.most, String(binds)],
    [words.from, addresses.length === 0 ? words.anywhere : addresses.join(', ')],
    [words.passwords, <InForce key="passwords" all={passwords} />],
    [
      words.waiting,
      <span key="waiting">
        {words.waitingText(count)}
        {since !== null && (
          <>
            {' '}
            {words.since} <Time at={since} />
          </>
        )}
      </span>,
    ],
    [words.created, <Time key="created" at={created_at} />],
  ];
}
