import { Button, Skeleton, Stack } from '@mantine/core';
import { useState } from 'react';
import type { ApplicationDetail, NewSmppAccount } from '../../api/types.ts';
import { Icon } from '../../parts/icon.tsx';
import { Callout } from '../../parts/notice/callout.tsx';
import { EmptyState } from '../../parts/notice/empty-state.tsx';
import { ProblemCallout } from '../../parts/notice/problem-callout.tsx';
import { Panel } from '../../parts/panel.tsx';
import { useCanChange } from '../../session/role.ts';
import { words } from '../../words/smpp.tsx';
import { BackLink } from '../back-link.tsx';
import { AccountPanel } from './account-panel.tsx';
import { AddAccount } from './add-account.tsx';
import { ShownPassword } from './shown-password.tsx';
import { smppPath, useSmppAccounts } from './use-smpp.ts';

const guide = '/docs/guides/smpp';

/** The accounts of programs that speak SMPP, with their binds live. */
export function SmppPage({ application }: { application: ApplicationDetail }) {
  const { id } = application;
  const path = smppPath(id);
  const canChange = useCanChange();
  const { data: accounts, problem, reload } = useSmppAccounts(id);
  const [isAdding, setIsAdding] = useState(false);
  const [fresh, setFresh] = useState<NewSmppAccount>();
  const [first] = accounts ?? [];
  const isRegistered = application.registrations.some(({ api, status }) => api === 'sms' && status === 'approved');
  const isClosed = first !== undefined && first.settings.port === null && first.settings.tls_port === null;

  function show(made: NewSmppAccount): void {
    setIsAdding(false);
    setFresh(made);
    reload();
  }

  const add = canChange && (
    <Button leftSection={<Icon name="plus" size={16} />} onClick={() => setIsAdding(true)}>
      {words.create}
    </Button>
  );
  return (
    <Stack gap="lg">
      <BackLink applicationId={id} />
      <Panel title={words.page} lead={words.lead} actions={accounts !== undefined && accounts.length > 0 && add}>
        <ProblemCallout problem={problem} onRetry={reload} />
        {accounts === undefined && problem === undefined && <Skeleton height={480} />}
        {!isRegistered && (
          <Callout tone="wait" title={words.notRegistered.title}>
            {words.notRegistered.text(`/applications/${id}/overview`)}
          </Callout>
        )}
        {isClosed && (
          <Callout tone="wait" title={words.noPort.title}>
            {words.noPort.text}
          </Callout>
        )}
        {accounts?.length === 0 && (
          <EmptyState title={words.none} action={add}>
            {canChange ? words.noneNext : words.noneForViewer}
          </EmptyState>
        )}
      </Panel>
      {accounts?.map((account) => (
        <AccountPanel key={account.id} account={account} path={path} onChange={reload} onRotated={show} />
      ))}
      {accounts !== undefined && <p>{words.guide(guide)}</p>}
      {isAdding && <AddAccount path={path} onClose={() => setIsAdding(false)} onMade={show} />}
      {fresh !== undefined && <ShownPassword account={fresh} onClose={() => setFresh(undefined)} />}
    </Stack>
  );
}
