import { Skeleton } from '@mantine/core';
import { type ComponentType, lazy, Suspense, useEffect, useRef } from 'react';
import { Link, Redirect, Route, Switch, useLocation } from 'wouter';
import { operatorPath } from '../api/call.ts';
import type { Alert } from '../api/operator-types.ts';
import type { Page } from '../api/types.ts';
import { useLoad } from '../api/use-load.ts';
import { NotFound } from '../not-found.tsx';
import styles from './operator-pages.module.css';

const alertsMs = 10_000;

interface OperatorPage {
  title: string;
  /** What follows the page's own path. */
  rest?: string;
  Content: ComponentType;
}

const pages: Record<string, OperatorPage> = {
  carriers: { title: 'Carriers', rest: '/:name?', Content: lazy(() => import('./carriers/carriers.tsx')) },
  routes: { title: 'Routes', Content: lazy(() => import('./routes/routes.tsx')) },
  deliveries: { title: 'Deliveries', Content: lazy(() => import('./deliveries/deliveries.tsx')) },
  quality: { title: 'Quality', Content: lazy(() => import('./quality/quality.tsx')) },
  alerts: { title: 'Alerts', Content: lazy(() => import('./alerts/alerts.tsx')) },
  senders: { title: 'Senders', Content: lazy(() => import('./senders/senders.tsx')) },
  numbers: { title: 'Numbers', Content: lazy(() => import('./numbers/numbers.tsx')) },
  'opt-outs': { title: 'Opt-outs', Content: lazy(() => import('./opt-outs/opt-outs.tsx')) },
  limits: { title: 'Limits', rest: '/:id?', Content: lazy(() => import('./limits/limits.tsx')) },
  registrations: { title: 'Registrations', Content: lazy(() => import('./pending-registrations.tsx')) },
  health: { title: 'Health', Content: lazy(() => import('./system-health.tsx')) },
};

/** Everything that only operators see, below one row of links. */
export default function OperatorPages() {
  const [location] = useLocation();
  const alerts = useLoad<Page<Alert>>(operatorPath('alerts?state=open&limit=100'), alertsMs).data?.data.length ?? 0;
  const nav = useRef<HTMLElement>(null);
  const [, , here = ''] = location.split('/');
  // biome-ignore lint/correctness/useExhaustiveDependencies: on a narrow screen the link may be out of sight.
  useEffect(() => {
    nav.current?.querySelector('[aria-current]')?.scrollIntoView({ inline: 'center', block: 'nearest' });
  }, [here]);
  return (
    <>
      <nav ref={nav} className={styles.nav} aria-label="Operations">
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
      </nav>
      <Suspense fallback={<Skeleton height={260} />}>
        <Switch>
          <Route path="/operator">
            <Redirect to="/operator/carriers" replace />
          </Route>
          {Object.entries(pages).map(([path, { rest = '', Content }]) => (
            <Route key={path} path={`/operator/${path}${rest}`} component={Content} />
          ))}
          <Route component={NotFound} />
        </Switch>
      </Suspense>
    </>
  );
}
