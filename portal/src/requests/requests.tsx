import { Button, Skeleton, Stack, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { Link, useLocation } from 'wouter';
import { apiTitle } from '../api/apis.ts';
import { applicationPath } from '../api/call.ts';
import type { RequestSummary } from '../api/record-types.ts';
import { useList } from '../api/use-load.ts';
import type { TabProps } from '../applications/application-page.tsx';
import { EmptyState } from '../parts/empty-state.tsx';
import { Icon } from '../parts/icon.tsx';
import { Panel } from '../parts/panel.tsx';
import { ProblemCallout } from '../parts/problem-callout.tsx';
import { HttpStatus } from '../parts/status.tsx';
import { Time } from '../parts/time.tsx';
import styles from './requests.module.css';
import { Trace } from './trace.tsx';

const refreshMs = 2000;

export default function Requests({ application, record }: TabProps) {
  const [, navigate] = useLocation();
  const [wanted, setWanted] = useState(record ?? '');
  const here = `/applications/${application.id}/requests`;
  const list = useList<RequestSummary>(applicationPath(application.id, '/requests'), refreshMs);

  function submit(event: FormEvent): void {
    event.preventDefault();
    if (wanted !== '') navigate(`${here}/${encodeURIComponent(wanted)}`);
  }

  return (
    <Stack gap="lg">
      <Panel title="Find a request" lead="Every response carries its correlation id in the X-Correlation-ID header.">
        <form onSubmit={submit} className={styles.search}>
          <TextInput
            label="Correlation id"
            placeholder="req_…"
            value={wanted}
            onChange={(event) => setWanted(event.currentTarget.value.trim())}
            flex={1}
          />
          <Button type="submit" leftSection={<Icon name="search" size={16} />}>
            Find
          </Button>
        </form>
        {record !== undefined && <Trace key={record} correlationId={record} />}
      </Panel>
      <Panel title="Recent requests" lead="The newest 1,000 of the last 24 hours.">
        <ProblemCallout problem={list.problem} onRetry={list.reload} />
        {list.data === undefined && list.problem === undefined && <Skeleton height={160} />}
        {list.data?.length === 0 && (
          <EmptyState title="No requests yet">
            Send one under <Link href={`/applications/${application.id}/try`}>Try it</Link>, or with curl.
          </EmptyState>
        )}
        <ul className={styles.list}>
          {list.data?.map((request) => (
            <li key={request.correlation_id}>
              <Link
                href={`${here}/${request.correlation_id}`}
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
            Show more
          </Button>
        )}
      </Panel>
    </Stack>
  );
}
