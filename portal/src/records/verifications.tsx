import { Stack } from '@mantine/core';
import { useState } from 'react';
import { applicationPath, withQuery } from '../api/call.ts';
import type { Verification } from '../api/record-types.ts';
import { useList } from '../api/use-load.ts';
import type { TabProps } from '../applications/application-page.tsx';
import { Status } from '../parts/status.tsx';
import { Time } from '../parts/time.tsx';
import { RecordList } from './record-list.tsx';
import styles from './records.module.css';
import { noSearch, type Search, SearchBar } from './search-bar.tsx';
import { VerificationDrawer } from './verification-drawer.tsx';

const states = ['pending', 'approved', 'failed', 'expired', 'canceled', 'blocked'];
const refreshMs = 2000;

export default function Verifications({ application, record }: TabProps) {
  const [search, setSearch] = useState<Search>(noSearch);
  const list = useList<Verification>(
    withQuery(applicationPath(application.id, '/verifications'), { ...search }),
    refreshMs,
  );
  const here = `/applications/${application.id}/verifications`;
  return (
    <Stack>
      <SearchBar search={search} states={states} onChange={setSearch} />
      <RecordList
        list={list}
        searched={search !== noSearch}
        nothing="No verifications started yet."
        tryHref={`/applications/${application.id}/try`}
        hrefOf={({ id }) => `${here}/${id}`}
        renderItem={(verification) => (
          <>
            <Status state={verification.status} />
            <span className={styles.number}>{verification.to}</span>
            <span className={styles.text}>{progressOf(verification)}</span>
            <span className={styles.quiet}>
              <Time at={verification.created_at} />
            </span>
          </>
        )}
      />
      {record !== undefined && <VerificationDrawer applicationId={application.id} id={record} back={here} />}
    </Stack>
  );
}

function progressOf({ status, reason, delivery, attempts_remaining }: Verification): string {
  if (reason !== null) return reason.replaceAll('_', ' ');
  if (status !== 'pending') return '';
  const tries = `${attempts_remaining} ${attempts_remaining === 1 ? 'try' : 'tries'} left`;
  return delivery === null ? tries : `text ${delivery.status}, ${tries}`;
}
