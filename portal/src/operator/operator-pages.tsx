import { Button, Skeleton } from '@mantine/core';
import { Suspense } from 'react';
import { Link, Redirect, Route, Switch, useLocation } from 'wouter';
import { EnrolByLink } from '../account/enrol-by-link.tsx';
import { NotFound } from '../parts/not-found.tsx';
import { Callout } from '../parts/notice/callout.tsx';
import { PageTitle } from '../parts/page-title.tsx';
import { useOpenAlerts } from '../session/open-alerts.tsx';
import { useSession } from '../session/session.tsx';
import { words } from '../words/operator/pages.ts';
import { OperatorNavigation } from './navigation/navigation.tsx';
import { pageGroups } from './navigation/page-list.ts';
import styles from './operator-pages.module.css';

const { secondFactor } = words;
const pages = pageGroups.flatMap((group) => Object.entries(group.pages));

/** Everything that only operators see, beside its navigation. */
export default function OperatorPages() {
  const { account, service } = useSession();
  const { data, problem } = useOpenAlerts();
  const hasFactor = account?.second_factor.enabled === true;
  if (!hasFactor && data === undefined) {
    return problem?.status === 403 ? <SecondFactorNeeded /> : <Skeleton height={520} />;
  }
  return (
    <div className={styles.pages}>
      <OperatorNavigation />
      <div className={styles.content}>
        {!hasFactor && service.environment === 'production' && (
          <div className={styles.asked}>
            <Callout tone="wait" title={secondFactor.title}>
              {secondFactor.asked} <Link href="/account">{secondFactor.open}</Link>
            </Callout>
          </div>
        )}
        <Suspense fallback={<Skeleton height={520} />}>
          <Switch>
            <Route path="/operator">
              <Redirect to="/operator/now" replace />
            </Route>
            <Route path="/operator/quality">
              <Redirect to="/operator/totals" replace />
            </Route>
            {pages.map(([path, { rest = '', Content }]) => (
              <Route key={path} path={`/operator/${path}${rest}`} component={Content} />
            ))}
            <Route component={NotFound} />
          </Switch>
        </Suspense>
      </div>
    </div>
  );
}

/** If the service requires a second factor, an operator without one sees nothing else. */
function SecondFactorNeeded() {
  const { account } = useSession();
  const [location] = useLocation();
  return (
    <>
      <PageTitle lead={secondFactor.required}>{secondFactor.title}</PageTitle>
      {account !== null && !account.second_factor.can_set_up ? (
        <EnrolByLink email={account.email} />
      ) : (
        <Button component={Link} href={`/account?next=${encodeURIComponent(location)}`}>
          {secondFactor.open}
        </Button>
      )}
    </>
  );
}
