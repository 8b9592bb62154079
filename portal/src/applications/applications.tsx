import { Button, Skeleton } from '@mantine/core';
import { useState } from 'react';
import { Link } from 'wouter';
import type { Application } from '../api/types.ts';
import { Icon } from '../parts/icon.tsx';
import { EmptyState } from '../parts/notice/empty-state.tsx';
import { ProblemCallout } from '../parts/notice/problem-callout.tsx';
import { PageTitle } from '../parts/page-title.tsx';
import { Time } from '../parts/time.tsx';
import { useCanChange } from '../session/role.ts';
import { useList } from '../session/use-load.ts';
import { words } from '../words/applications.ts';
import styles from './applications.module.css';
import { CreateApplication } from './create-application.tsx';

export function Applications() {
  const { data, problem, reload, showMore } = useList<Application>('/portal/v1/applications');
  const [creating, setCreating] = useState(false);
  const canChange = useCanChange();
  const create = canChange && (
    <Button leftSection={<Icon name="plus" />} onClick={() => setCreating(true)}>
      {words.create}
    </Button>
  );
  const none = canChange ? words.none : words.noneToRead;
  return (
    <>
      <PageTitle lead={words.lead} actions={data?.length ? create : undefined}>
        {words.title}
      </PageTitle>
      <ProblemCallout problem={problem} onRetry={reload} />
      {data === undefined && problem === undefined && <Skeleton height={96} aria-label={words.loading} />}
      {data?.length === 0 && (
        <EmptyState title={none.title} action={create}>
          {none.next}
        </EmptyState>
      )}
      {data !== undefined && data.length > 0 && (
        <ul className={styles.list}>
          {data.map((application) => (
            <li key={application.id}>
              <Link href={`/applications/${application.id}`} className={styles.card ?? ''}>
                <span className={styles.initial} aria-hidden="true">
                  {application.name.trim().charAt(0).toUpperCase()}
                </span>
                <span className={styles.text}>
                  <strong>{application.name}</strong>
                  <span className={styles.meta}>
                    {words.created} <Time at={application.created_at} />
                  </span>
                </span>
                <Icon name="arrow" />
              </Link>
            </li>
          ))}
        </ul>
      )}
      {showMore && (
        <Button variant="default" mt="md" onClick={showMore}>
          {words.showMore}
        </Button>
      )}
      <CreateApplication opened={creating} onClose={() => setCreating(false)} />
    </>
  );
}
