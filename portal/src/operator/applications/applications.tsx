import { Stack } from '@mantine/core';
import { Link, useParams } from 'wouter';
import { apiTitle, planTitle } from '../../api/apis.ts';
import { operatorPath, withQuery } from '../../api/call.ts';
import type { OperatedApplication } from '../../api/operator-types.ts';
import { useFilters } from '../../location.ts';
import { PageTitle } from '../../parts/page-title.tsx';
import { FindForm } from '../../parts/table/find-form.tsx';
import { LoadedTable } from '../../parts/table/loaded-table.tsx';
import { words } from '../../words/operator/applications.ts';
import styles from '../operator.module.css';

const refreshMs = 10_000;
const count = new Intl.NumberFormat();
const fields = { search: { label: words.search, example: words.searchExample } };
const columns = [
  words.columns.application,
  words.columns.account,
  words.columns.apis,
  { title: words.columns.admitted, number: true as const },
  { title: words.columns.refused, number: true as const },
  { title: words.columns.sent, number: true as const },
  { title: words.columns.failed, number: true as const },
];

export default function Applications() {
  const { account = '' } = useParams<{ account?: string }>();
  const { values, change } = useFilters({ search: account });
  return (
    <>
      <PageTitle lead={words.lead}>{words.title}</PageTitle>
      <Stack gap="lg">
        <FindForm fields={fields} initial={values} onFind={change} />
        <LoadedTable
          key={values.search}
          path={withQuery(operatorPath('applications'), values)}
          everyMs={refreshMs}
          label={words.table}
          columns={columns}
          cellsOf={cellsOf}
          nothing={words.nothing}
        />
      </Stack>
    </>
  );
}

function cellsOf({ id, name, account_id, account_email, registrations, today }: OperatedApplication) {
  return [
    <div key="name">
      <Link href={`/operator/limits/${id}`}>{name}</Link>
      <div className={styles.quiet}>
        <code>{id}</code>
      </div>
    </div>,
    <Link key="account" href={`/operator/accounts/${account_id}`}>
      {account_email}
    </Link>,
    registrations.map(({ api, plan }) => words.registration(apiTitle(api), planTitle(plan))).join(', ') || '–',
    count.format(today.admitted),
    count.format(today.refused),
    count.format(today.sent),
    count.format(today.failed),
  ];
}
