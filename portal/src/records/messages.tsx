import { SegmentedControl, Stack } from '@mantine/core';
import { useState } from 'react';
import { apiTitle } from '../api/apis.ts';
import { applicationPath, withQuery } from '../api/call.ts';
import type { Message } from '../api/record-types.ts';
import { useList } from '../api/use-load.ts';
import type { TabProps } from '../applications/application-page.tsx';
import { Status } from '../parts/status.tsx';
import { Time } from '../parts/time.tsx';
import { MessageDrawer } from './message-drawer.tsx';
import { RecordList } from './record-list.tsx';
import styles from './records.module.css';
import { noSearch, type Search, SearchBar } from './search-bar.tsx';

const states = ['scheduled', 'queued', 'sent', 'delivered', 'undelivered', 'failed', 'expired', 'canceled', 'unknown'];
const refreshMs = 2000;

export default function Messages({ application, record }: TabProps) {
  const [api, setApi] = useState('sms');
  const [search, setSearch] = useState<Search>(noSearch);
  const path = withQuery(applicationPath(application.id, '/messages'), { api, ...search });
  const list = useList<Message>(path, refreshMs);
  const here = `/applications/${application.id}/messages`;
  return (
    <Stack>
      <div className={styles.bar}>
        <SegmentedControl
          aria-label="API"
          value={api}
          onChange={setApi}
          data={['sms', 'messaging'].map((value) => ({ value, label: apiTitle(value) }))}
        />
      </div>
      <SearchBar search={search} states={states} onChange={setSearch} />
      <RecordList
        list={list}
        searched={search !== noSearch}
        nothing={`No messages sent through the ${apiTitle(api)} API yet.`}
        tryHref={`/applications/${application.id}/try`}
        hrefOf={({ id }) => `${here}/${id}`}
        renderItem={(message) => (
          <>
            <Status state={message.status} />
            <span className={styles.number}>{message.to}</span>
            <span className={styles.text}>
              <span className={styles.quiet}>{message.from}:</span> {message.message ?? 'Text removed'}
            </span>
            <span className={styles.quiet}>
              <Time at={message.created_at} />
            </span>
          </>
        )}
      />
      {record !== undefined && <MessageDrawer applicationId={application.id} id={record} back={here} />}
    </Stack>
  );
}
