import { SegmentedControl, Stack } from '@mantine/core';
import { apiTitle } from '../api/apis.ts';
import { applicationPath, withQuery } from '../api/call.ts';
import type { Message } from '../api/record-types.ts';
import { useFilters } from '../location.ts';
import { timesOf } from '../parts/day-times.ts';
import { Status } from '../parts/status.tsx';
import type { TabProps } from '../parts/tab-props.ts';
import { Time } from '../parts/time.tsx';
import { useList } from '../session/use-load.ts';
import { words as allWords } from '../words/records.tsx';
import { ExportLink } from './export-link.tsx';
import { MessageDrawer } from './message-drawer.tsx';
import { RecordList } from './record-list.tsx';
import styles from './records.module.css';
import { noSearch, SearchBar } from './search-bar.tsx';

const words = allWords.messages;

const states = ['scheduled', 'queued', 'sent', 'delivered', 'undelivered', 'failed', 'expired', 'canceled', 'unknown'];
const refreshMs = 2000;

export default function Messages({ application, record }: TabProps) {
  const { values, change, query } = useFilters({ ...noSearch, api: 'sms' });
  const { api, ...search } = values;
  const filters = { ...values, ...timesOf(values) };
  const list = useList<Message>(withQuery(applicationPath(application.id, '/messages'), filters), refreshMs);
  const here = `/applications/${application.id}/messages`;
  return (
    <Stack>
      <div className={styles.bar}>
        <SegmentedControl
          aria-label={words.api}
          value={api}
          onChange={(chosen) => change({ api: chosen })}
          data={['sms', 'messaging'].map((value) => ({ value, label: apiTitle(value) }))}
        />
      </div>
      <SearchBar search={search} states={states} onChange={change}>
        <ExportLink href={withQuery(applicationPath(application.id, '/messages.csv'), filters)} />
      </SearchBar>
      <RecordList
        list={list}
        columns={words.columns}
        searched={Object.values(search).some((value) => value !== '')}
        nothing={words.none(apiTitle(api))}
        tryHref={`/applications/${application.id}/try`}
        hrefOf={({ id }) => `${here}/${id}${query}`}
        renderItem={(message) => (
          <>
            <Status state={message.status} />
            <span className={styles.number}>{message.to}</span>
            <span className={styles.text}>
              <span className={styles.quiet}>{message.from}:</span> {message.message ?? words.removed}
            </span>
            <span className={styles.quiet}>
              <Time at={message.created_at} />
            </span>
          </>
        )}
      />
      {record !== undefined && <MessageDrawer applicationId={application.id} id={record} back={`${here}${query}`} />}
    </Stack>
  );
}
