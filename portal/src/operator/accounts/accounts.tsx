import { Skeleton, Stack } from '@mantine/core';
import { Link, useParams } from 'wouter';
import { operatorPath, withQuery } from '../../api/call.ts';
import type { OperatedAccount } from '../../api/operator-types.ts';
import { useList } from '../../api/use-load.ts';
import { useFilters } from '../../location.ts';
import { EmptyState } from '../../parts/empty-state.tsx';
import { FindForm } from '../../parts/find-form.tsx';
import { PageTitle } from '../../parts/page-title.tsx';
import { Panel } from '../../parts/panel.tsx';
import { ProblemCallout } from '../../parts/problem-callout.tsx';
import { ShowMore } from '../../parts/show-more.tsx';
import { Status } from '../../parts/status.tsx';
import { Table } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { words } from '../../words/operator-accounts.ts';
import { AccountDetail } from './account-detail.tsx';

const fields = { search: { label: words.search, example: words.searchExample } };
const columns = [
  words.columns.account,
  words.columns.state,
  { title: words.columns.members, number: true as const },
  { title: words.columns.applications, number: true as const },
  words.columns.created,
];

export default function Accounts() {
  const { id } = useParams<{ id?: string }>();
  const { values, change } = useFilters({ search: '' });
  return (
    <>
      <PageTitle lead={words.lead}>{words.title}</PageTitle>
      <Stack gap="lg">
        {id !== undefined && <AccountDetail key={id} id={id} />}
        <FindForm fields={fields} initial={values} onFind={change} />
        <Found key={values.search} path={withQuery(operatorPath('accounts'), values)} />
      </Stack>
    </>
  );
}

function Found({ path }: { path: string }) {
  const { data, problem, reload, showMore } = useList<OperatedAccount>(path);
  if (data === undefined) {
    return problem === undefined ? <Skeleton height={260} /> : <ProblemCallout problem={problem} onRetry={reload} />;
  }
  if (data.length === 0) return <EmptyState title={words.nothing.title}>{words.nothing.text}</EmptyState>;
  return (
    <Panel>
      <Table
        label={words.table}
        columns={columns}
        rows={data.map((account) => ({
          key: account.id,
          cells: [
            <Link key="name" href={`/operator/accounts/${account.id}`}>
              {account.owner_email || account.name}
            </Link>,
            <Status key="state" state={account.disabled_at === null ? words.active : words.disabled} />,
            account.members,
            account.applications,
            <Time key="created" at={account.created_at} />,
          ],
        }))}
      />
      <ShowMore onClick={showMore} />
    </Panel>
  );
}
