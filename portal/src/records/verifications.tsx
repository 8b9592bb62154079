import { Stack } from '@mantine/core';
import { applicationPath, withQuery } from '../api/call.ts';
import type { Verification } from '../api/record-types.ts';
import { useFilters } from '../location.ts';
import { timesOf } from '../parts/day-times.ts';
import { Status } from '../parts/status.tsx';
import type { TabProps } from '../parts/tab-props.ts';
import { Time } from '../parts/time.tsx';
import { useList } from '../session/use-load.ts';
import { words as allWords } from '../words/records.tsx';
import { ExportLink } from './export-link.tsx';
import { RecordList } from './record-list.tsx';
import styles from './records.module.css';
import { noSearch, SearchBar } from './search-bar.tsx';
import { VerificationDrawer } from './verification-drawer.tsx';

const words = allWords.verifications;

const states = ['pending', 'approved', 'failed', 'expired', 'canceled', 'blocked'];
const refreshMs = 2000;

export default function Verifications({ application, record }: TabProps) {
  const { values: search, change, query, any } = useFilters(noSearch);
  const filters = { ...search, ...timesOf(search) };
  const list = useList<Verification>(withQuery(applicationPath(application.id, '/verifications'), filters), refreshMs);
  const here = `/applications/${application.id}/verifications`;
  return (
    <Stack>
      <SearchBar search={search} states={states} onChange={change}>
        <ExportLink href={withQuery(applicationPath(application.id, '/verifications.csv'), filters)} />
      </SearchBar>
      <RecordList
        list={list}
        columns={words.columns}
        searched={any}
        nothing={words.none}
        tryHref={`/applications/${application.id}/try`}
        hrefOf={({ id }) => `${here}/${id}${query}`}
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
      {record !== undefined && (
        <VerificationDrawer applicationId={application.id} id={record} back={`${here}${query}`} />
      )}
    </Stack>
  );
}

function progressOf({ status, reason, delivery, attempts_remaining }: Verification): string {
  if (reason !== null) return reason.replaceAll('_', ' ');
  if (status !== 'pending') return '';
  const left = words.attemptsLeft(attempts_remaining);
  return delivery === null ? left : words.text(delivery.status, left);
}
