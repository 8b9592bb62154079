import { Button, Skeleton } from '@mantine/core';
import { type ComponentType, lazy, Suspense, useEffect, useRef } from 'react';
import { Link, Redirect, Route, Switch, useLocation } from 'wouter';
import { EnrolByLink } from '../account/enrol-by-link.tsx';
import { operatorPath } from '../api/call.ts';
import type { Alert } from '../api/operator-types.ts';
import type { Page } from '../api/types.ts';
import { NotFound } from '../parts/not-found.tsx';
import { Callout } from '../parts/notice/callout.tsx';
import { PageTitle } from '../parts/page-title.tsx';
import { useSession } from '../session/session.tsx';
import { useLoad } from '../session/use-load.ts';
import { words as operatorWords } from '../words/operator/pages.ts';
import styles from './operator-pages.module.css';

const alertsMs = 10_000;

interface OperatorPage {
  title: string;
  /** The rest of the address after the page's path. */
  rest?: string;
  Content: ComponentType;
}

const { groups, pages: titles, navigation, secondFactor } = operatorWords;

/** The pages by group, so that each is easy to find. */
const pageGroups: { title: string; pages: Record<string, OperatorPage> }[] = [
  {
    title: groups.texts,
    pages: {
      carriers: { title: titles.carriers, rest: '/:name?', Content: lazy(() => import('./carriers/carriers.tsx')) },
      routes: { title: titles.routes, Content: lazy(() => import('./routes/routes.tsx')) },
      queue: { title: titles.queue, Content: lazy(() => import('./queue/queue.tsx')) },
      deliveries: { title: titles.deliveries, Content: lazy(() => import('./deliveries/deliveries.tsx')) },
      quality: { title: titles.quality, Content: lazy(() => import('./quality/quality.tsx')) },
      senders: { title: titles.senders, Content: lazy(() => import('./senders/senders.tsx')) },
      numbers: { title: titles.numbers, Content: lazy(() => import('./numbers/numbers.tsx')) },
      'opt-outs': { title: titles.optOuts, Content: lazy(() => import('./opt-outs/opt-outs.tsx')) },
    },
  },
  {
    title: groups.service,
    pages: {
      traffic: { title: titles.traffic, Content: lazy(() => import('./traffic/traffic.tsx')) },
      nodes: { title: titles.nodes, Content: lazy(() => import('./nodes/nodes.tsx')) },
      health: { title: titles.health, Content: lazy(() => import('./system-health.tsx')) },
    },
  },
  {
    title: groups.customers,
    pages: {
      accounts: { title: titles.accounts, rest: '/:id?', Content: lazy(() => import('./accounts/accounts.tsx')) },
      applications: {
        title: titles.applications,
        rest: '/:account?',
        Content: lazy(() => import('./applications/applications.tsx')),
      },
      registrations: { title: titles.registrations, Content: lazy(() => import('./pending-registrations.tsx')) },
      plans: { title: titles.plans, Content: lazy(() => import('./plans/plans.tsx')) },
      limits: { title: titles.limits, rest: '/:id?', Content: lazy(() => import('./limits/limits.tsx')) },
    },
  },
  {
    title: groups.control,
    pages: {
      alerts: { title: titles.alerts, Content: lazy(() => import('./alerts/alerts.tsx')) },
      guard: { title: titles.guard, Content: lazy(() => import('./guard/guard.tsx')) },
      audit: { title: titles.audit, Content: lazy(() => import('./audit/audit.tsx')) },
      'sign-ins': { title: titles.signIns, Content: lazy(() => import('./sign-ins/sign-ins.tsx')) },
    },
  },
];

/** Everything that only operators see, below one row of links. */
export default function OperatorPages() {
  const [location] = useLocation();
  const { account, service } = useSession();
  const loaded = useLoad<Page<Alert>>(operatorPath('alerts?state=open&limit=100'), alertsMs);
  const alerts = loaded.data?.data.length ?? 0;
  const hasFactor = account?.second_factor.enabled === true;
  const nav = useRef<HTMLElement>(null);
  const [, , here = ''] = location.split('/');
  // biome-ignore lint/correctness/useExhaustiveDependencies: on a narrow screen the link may be out of sight.
  useEffect(() => {
    nav.current?.querySelector('[aria-current]')?.scrollIntoView({ inline: 'center', block: 'nearest' });
  }, [here]);
  if (!hasFactor && loaded.data === undefined) {
    return loaded.problem?.status === 403 ? <SecondFactorNeeded /> : <Skeleton height={520} />;
  }
  return (
    <>
      {!hasFactor && service.environment === 'production' && (
        <div className={styles.asked}>
          <Callout tone="wait" title={secondFactor.title}>
            {secondFactor.asked} <Link href="/account">{secondFactor.open}</Link>
          </Callout>
        </div>
      )}
      <nav ref={nav} className={styles.nav} aria-label={navigation}>
        {pageGroups.map(({ title: group, pages }) => (
          <div key={group} className={styles.group}>
            <span className={styles.title}>{group}</span>
            {Object.entries(pages).map(([path, { title }]) => (
              <Link
                key={path}
                href={`/operator/${path}`}
                className={styles.link ?? ''}
                aria-current={here === path ? 'page' : undefined}
              >
                {title}
                {path === 'alerts' && alerts > 0 && <span className={styles.count}>{alerts}</span>}
              </Link>
            ))}
          </div>
        ))}
      </nav>
      <Suspense fallback={<Skeleton height={260} />}>
        <Switch>
          <Route path="/operator">
            <Redirect to="/operator/carriers" replace />
          </Route>
          {pageGroups.flatMap(({ pages }) =>
            Object.entries(pages).map(([path, { rest = '', Content }]) => (
              <Route key={path} path={`/operator/${path}${rest}`} component={Content} />
            )),
          )}
          <Route component={NotFound} />
        </Switch>
      </Suspense>
    </>
  );
}

/** If the service requires a second factor, an operator without one sees nothing else. */
function SecondFactorNeeded() {
  const { account } = useSession();
  return (
    <>
      <PageTitle lead={secondFactor.required}>{secondFactor.title}</PageTitle>
      {account !== null && !account.second_factor.can_set_up ? (
        <EnrolByLink email={account.email} />
      ) : (
        <Button component={Link} href="/account">
          {secondFactor.open}
        </Button>
      )}
    </>
  );
}
