import { SegmentedControl, Stack } from '@mantine/core';
import { apiTitle } from '../api/apis.ts';
import { applicationPath, withQuery } from '../api/call.ts';
import type { Message, MessageBatch } from '../api/record-types.ts';
import type { Page } from '../api/types.ts';
import { useFilters } from '../location.ts';
import { timesOf } from '../parts/day-times.ts';
import { Quiet, RecordList, RowNumber, RowText } from '../parts/list/record-list.tsx';
import { firstPage, listPaths, usePages, withoutPage } from '../parts/list/use-pages.ts';
import { Status } from '../parts/status.tsx';
import type { TabProps } from '../parts/tab-props.ts';
import { Time } from '../parts/time.tsx';
import { words as allWords } from '../words/records.tsx';
import { BatchRow } from './batch-row.tsx';
import { ExportLink } from './export-link.tsx';
import { MessageDrawer } from './message-drawer.tsx';
import styles from './records.module.css';
import { noSearch, SearchBar } from './search-bar.tsx';

const words = allWords.messages;

const states = ['scheduled', 'queued', 'sent', 'delivered', 'undelivered', 'failed', 'expired', 'canceled', 'unknown'];

interface MessagesPage extends Page<Message> {
  batches: MessageBatch[];
}

/** The texts of both APIs, newest first; those of a batch under one heading. */
export default function Messages({ application, record }: TabProps) {
  const filters = useFilters({ ...noSearch, api: '', ...firstPage });
  const { values, change, query } = filters;
  const { api, ...search } = withoutPage(values);
  const wanted = { api, ...search, ...timesOf(values) };
  const path = applicationPath(application.id, '/messages');
  const [listPath, totalPath] = listPaths(path, wanted);
  const pages = usePages<Message, typeof values>(listPath, filters, totalPath);
  const found = pages.responses.flatMap((response) => (response as MessagesPage).batches);
  const batches = new Map(found.map((batch) => [batch.correlation_id, batch]));
  const here = `/applications/${application.id}/messages`;
  return (
    <Stack>
      <div className={styles.bar}>
        <SegmentedControl
          aria-label={words.api}
          value={api}
          onChange={(chosen) => change({ api: chosen, ...firstPage })}
          data={[
            { value: '', label: words.bothApis },
            ...['sms', 'messaging'].map((value) => ({ value, label: apiTitle(value) })),
          ]}
        />
      </div>
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
        groupOf={({ correlation_id }) => batches.get(correlation_id)?.correlation_id}
        renderGroup={(key, messages) => <BatchRow batch={batches.get(key)} messages={messages} />}
        renderItem={(message) => (
          <>
            <Status state={message.status} />
            <RowNumber>{message.to}</RowNumber>
            <RowText>
              <Quiet>{message.from}:</Quiet> {message.message ?? words.removed}
            </RowText>
            <Quiet>
              <Time at={message.created_at} />
            </Quiet>
          </>
        )}
      />
      {record !== undefined && <MessageDrawer applicationId={application.id} id={record} back={`${here}${query}`} />}
    </Stack>
  );
}
