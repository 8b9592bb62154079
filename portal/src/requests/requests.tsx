import { Button, NativeSelect, Skeleton, Stack, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { Link, useLocation } from 'wouter';
import { apis, apiTitle } from '../api/apis.ts';
import { applicationPath, withQuery } from '../api/call.ts';
import type { RequestSummary } from '../api/record-types.ts';
import { useFilters } from '../location.ts';
import { timesOf } from '../parts/day-times.ts';
import { Icon } from '../parts/icon.tsx';
import { EmptyState } from '../parts/notice/empty-state.tsx';
import { ProblemCallout } from '../parts/notice/problem-callout.tsx';
import { Panel } from '../parts/panel.tsx';
import { HttpStatus } from '../parts/status.tsx';
import type { TabProps } from '../parts/tab-props.ts';
import { Time } from '../parts/time.tsx';
import { DayRange } from '../records/day-range.tsx';
import { useList } from '../session/use-load.ts';
import { words } from '../words/requests.tsx';
import styles from './requests.module.css';
import { Trace } from './trace.tsx';

const refreshMs = 2000;
const noFilter = { api: '', status: '', since: '', until: '' };

export default function Requests({ application, record }: TabProps) {
  const [, navigate] = useLocation();
  const [wanted, setWanted] = useState(record ?? '');
  const here = `/applications/${application.id}/requests`;
  const { values: filter, change, query, any } = useFilters(noFilter);
  const path = withQuery(applicationPath(application.id, '/requests'), { ...filter, ...timesOf(filter) });
  const list = useList<RequestSummary>(path, refreshMs);

  function submit(event: FormEvent): void {
    event.preventDefault();
    if (wanted !== '') navigate(`${here}/${encodeURIComponent(wanted)}${query}`);
  }

  return (
    <Stack gap="lg">
      <Panel title={words.find.title} lead={words.find.lead}>
        <form onSubmit={submit} className={styles.search}>
          <TextInput
            label={words.find.label}
            placeholder={words.find.placeholder}
            value={wanted}
            onChange={(event) => setWanted(event.currentTarget.value.trim())}
            flex={1}
          />
          <Button type="submit" leftSection={<Icon name="search" size={16} />}>
            {words.find.submit}
          </Button>
        </form>
        {record !== undefined && <Trace key={record} correlationId={record} />}
      </Panel>
      <Panel title={words.list.title} lead={words.list.lead}>
        <search className={styles.filters}>
          <NativeSelect
            label={words.list.status}
            data={words.list.statuses}
            value={filter.status}
            onChange={(event) => change({ status: event.currentTarget.value })}
          />
          <NativeSelect
            label={words.list.api}
            data={[
              { value: '', label: words.list.any },
              ...apis.map(({ name, title }) => ({ value: name, label: title })),
            ]}
            value={filter.api}
            onChange={(event) => change({ api: event.currentTarget.value })}
          />
          <DayRange since={filter.since} until={filter.until} onChange={change} />
        </search>
        <ProblemCallout problem={list.problem} onRetry={list.reload} />
        {list.data === undefined && list.problem === undefined && <Skeleton height={160} />}
        {list.data?.length === 0 && any && (
          <EmptyState
            title={words.list.noMatch.title}
            action={
              <Button variant="default" onClick={() => change(noFilter)}>
                {words.list.noMatch.clear}
              </Button>
            }
          >
            {words.list.noMatch.next}
          </EmptyState>
        )}
        {list.data?.length === 0 && !any && (
          <EmptyState title={words.list.none.title}>
            {words.list.none.next(`/applications/${application.id}/try`)}
          </EmptyState>
        )}
        <ul className={styles.list}>
          {list.data !== undefined && list.data.length > 0 && (
            <li className={styles.heads} aria-hidden="true">
              {words.list.columns.map((column) => (
                <span key={column}>{column}</span>
              ))}
            </li>
          )}
          {list.data?.map((request) => (
            <li key={request.correlation_id}>
              <Link
                href={`${here}/${request.correlation_id}${query}`}
                className={styles.item ?? ''}
                onClick={() => setWanted(request.correlation_id)}
              >
                <HttpStatus status={request.status} />
                <span className={styles.path}>
                  <strong>{request.method}</strong> {request.path}
                </span>
                <span className={styles.quiet}>{request.code ?? apiTitle(request.api)}</span>
                <span className={styles.quiet}>
                  <Time at={request.at} />
                </span>
              </Link>
            </li>
          ))}
        </ul>
        {list.showMore && (
          <Button variant="default" mt="md" onClick={list.showMore}>
            {words.list.showMore}
          </Button>
        )}
      </Panel>
    </Stack>
  );
}
