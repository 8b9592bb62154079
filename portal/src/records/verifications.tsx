import { Stack } from '@mantine/core';
import { applicationPath, withQuery } from '../api/call.ts';
import type { Verification } from '../api/record-types.ts';
import { useFilters } from '../location.ts';
import { timesOf } from '../parts/day-times.ts';
import { Quiet, RecordList, RowNumber, RowText } from '../parts/list/record-list.tsx';
import { firstPage, listPaths, usePages, withoutPage } from '../parts/list/use-pages.ts';
import { Status } from '../parts/status.tsx';
import type { TabProps } from '../parts/tab-props.ts';
import { Time } from '../parts/time.tsx';
import { words as allWords } from '../words/records.tsx';
import { ExportLink } from './export-link.tsx';
import { noSearch, SearchBar } from './search-bar.tsx';
import { VerificationDrawer } from './verification-drawer.tsx';

const words = allWords.verifications;

const states = ['pending', 'approved', 'failed', 'expired', 'canceled', 'blocked'];

export default function Verifications({ application, record }: TabProps) {
  const filters = useFilters({ ...noSearch, ...firstPage });
  const { values, change, query } = filters;
  const search = withoutPage(values);
  const wanted = { ...search, ...timesOf(search) };
  const path = applicationPath(application.id, '/verifications');
  const [listPath, totalPath] = listPaths(path, wanted);
  const pages = usePages<Verification, typeof values>(listPath, filters, totalPath);
  const here = `/applications/${application.id}/verifications`;
  return (
    <Stack>
      <SearchBar search={search} states={states} onChange={(changed) => change({ ...changed, ...firstPage })}>
        <ExportLink href={withQuery(`${path}.csv`, wanted)} />
      </SearchBar>
      <RecordList
        label={words.label}
        pages={pages}
        columns={words.columns}
        searched={Object.values(search).some((value) => value !== '')}
        nothing={{ title: allWords.list.none, text: words.none, tryHref: `/applications/${application.id}/try` }}
        counted={words.counted}
        hrefOf={({ id }) => `${here}/${id}${query}`}
        idOf={({ id }) => id}
        opened={record}
        renderItem={(verification) => (
          <>
            <Status state={verification.status} />
            <RowNumber>{verification.to}</RowNumber>
            <RowText>{progressOf(verification)}</RowText>
            <Quiet>
              <Time at={verification.created_at} />
            </Quiet>
          </>
        )}
      />
      {record !== undefined && (
        <VerificationDrawer applicationId={application.id} id={record} back={`${here}${query}`} />
      )}
    </Stack>
  );
}

function progressOf({ status, reason, channel, delivery, attempts_remaining }: Verification): string {
  if (reason !== null) return reason;
  if (status !== 'pending') return '';
  const left = words.attemptsLeft(attempts_remaining);
  return delivery === null ? left : words.text(channel, delivery.status, left);
}
