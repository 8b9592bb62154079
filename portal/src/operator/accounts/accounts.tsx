import { Stack } from '@mantine/core';
import { Link, useParams } from 'wouter';
import { operatorPath, withQuery } from '../../api/call.ts';
import type { OperatedAccount } from '../../api/operator-types.ts';
import { useFilters } from '../../location.ts';
import { PageTitle } from '../../parts/page-title.tsx';
import { Status } from '../../parts/status.tsx';
import { FindForm } from '../../parts/table/find-form.tsx';
import { LoadedTable } from '../../parts/table/loaded-table.tsx';
import { Time } from '../../parts/time.tsx';
import { words } from '../../words/operator/accounts.ts';
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
        <LoadedTable
          key={values.search}
          path={withQuery(operatorPath('accounts'), values)}
          label={words.table}
          columns={columns}
          cellsOf={cellsOf}
          nothing={words.nothing}
        />
      </Stack>
    </>
  );
}

function cellsOf(account: OperatedAccount) {
  return [
    <Link key="name" href={`/operator/accounts/${account.id}`}>
      {account.owner_email || account.name}
    </Link>,
    <Status key="state" state={account.disabled_at === null ? words.active : words.disabled} />,
    account.members,
    account.applications,
    <Time key="created" at={account.created_at} />,
  ];
}
