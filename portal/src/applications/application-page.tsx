import { Skeleton } from '@mantine/core';
import { type ComponentType, lazy, Suspense, useEffect, useRef } from 'react';
import { Link } from 'wouter';
import { applicationPath } from '../api/call.ts';
import type { ApplicationDetail } from '../api/types.ts';
import { CopyButton } from '../parts/copy-button.tsx';
import { Icon } from '../parts/icon.tsx';
import { NotFound } from '../parts/not-found.tsx';
import { ProblemCallout } from '../parts/notice/problem-callout.tsx';
import { PageTitle } from '../parts/page-title.tsx';
import type { TabProps } from '../parts/tab-props.ts';
import { useLoad } from '../session/use-load.ts';
import { words } from '../words/applications.ts';
import styles from './application-page.module.css';

const tabs: Record<string, { title: string; Content: ComponentType<TabProps> }> = {
  overview: { title: words.tabs.overview, Content: lazy(() => import('../overview/overview.tsx')) },
  credentials: { title: words.tabs.credentials, Content: lazy(() => import('../credentials/credentials.tsx')) },
  senders: { title: words.tabs.senders, Content: lazy(() => import('../senders/senders.tsx')) },
  try: { title: words.tabs.try, Content: lazy(() => import('../try/try-it.tsx')) },
  messages: { title: words.tabs.messages, Content: lazy(() => import('../records/messages.tsx')) },
  inbound: { title: words.tabs.inbound, Content: lazy(() => import('../inbound/inbound.tsx')) },
  verifications: { title: words.tabs.verifications, Content: lazy(() => import('../records/verifications.tsx')) },
  events: { title: words.tabs.events, Content: lazy(() => import('../events/events.tsx')) },
  webhooks: { title: words.tabs.webhooks, Content: lazy(() => import('../webhooks/webhooks.tsx')) },
  integrations: { title: words.tabs.integrations, Content: lazy(() => import('../integrations/integrations.tsx')) },
  usage: { title: words.tabs.usage, Content: lazy(() => import('../usage/usage.tsx')) },
  delivery: { title: words.tabs.delivery, Content: lazy(() => import('../analytics/delivery-tab.tsx')) },
  requests: { title: words.tabs.requests, Content: lazy(() => import('../requests/requests.tsx')) },
};

interface PageProps {
  id: string;
  tab: string;
  record: string | undefined;
  part: string | undefined;
}

export default function ApplicationPage({ id, tab, record, part }: PageProps) {
  const { data: application, problem, reload } = useLoad<ApplicationDetail>(applicationPath(id));
  const list = useRef<HTMLElement>(null);
  const loaded = application !== undefined;
  // biome-ignore lint/correctness/useExhaustiveDependencies: on a narrow screen the tab may be out of sight.
  useEffect(() => {
    list.current?.querySelector('[aria-current]')?.scrollIntoView({ inline: 'center', block: 'nearest' });
  }, [tab, loaded]);
  const shown = tabs[tab];
  if (problem?.status === 404 || shown === undefined) return <NotFound />;
  if (application === undefined) {
    return problem === undefined ? <Loading /> : <ProblemCallout problem={problem} onRetry={reload} />;
  }
  return (
    <>
      <Link href="/applications" className={styles.back ?? ''}>
        <Icon name="back" size={16} /> {words.back}
      </Link>
      <PageTitle
        documentTitle={[record, shown.title, application.name].filter((part) => part !== undefined).join(' · ')}
        lead={
          <>
            <code>{application.id}</code> <CopyButton text={application.id} what={words.idOf} small />
          </>
        }
      >
        {application.name}
      </PageTitle>
      <nav ref={list} className={styles.tabs} aria-label={words.sections} data-sections="">
        {Object.entries(tabs).map(([name, { title }]) => (
          <Link
            key={name}
            href={`/applications/${id}/${name}`}
            className={styles.tab ?? ''}
            aria-current={name === tab ? 'page' : undefined}
          >
            {title}
          </Link>
        ))}
      </nav>
      <div data-section={tab}>
        <Suspense fallback={<Skeleton height={260} />}>
          <shown.Content key={tab} application={application} record={record} part={part} onChange={reload} />
        </Suspense>
      </div>
    </>
  );
}

function Loading() {
  return (
    <div aria-busy="true">
      <Skeleton height={34} width={240} mb={28} />
      <Skeleton height={44} mb={24} />
      <Skeleton height={260} />
    </div>
  );
}
