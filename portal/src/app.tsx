import { Skeleton } from '@mantine/core';
import { lazy, Suspense } from 'react';
import { Route, Router, Switch, useParams } from 'wouter';
import { useHashLocation } from 'wouter/use-hash-location';
import { Applications } from './applications/applications.tsx';
import { Layout } from './layout.tsx';
import { NotFound } from './not-found.tsx';
import { ErrorBoundary } from './parts/error-boundary.tsx';
import { ProblemCallout } from './parts/problem-callout.tsx';
import { ToastProvider } from './parts/toast.tsx';
import { SessionProvider, useSession } from './session/session.tsx';
import { Landing } from './visitor/landing.tsx';
import { SetPassword } from './visitor/set-password.tsx';
import { SignIn } from './visitor/sign-in.tsx';

const ApplicationPage = lazy(() => import('./applications/application-page.tsx'));
const OperatorPages = lazy(() => import('./operator/operator-pages.tsx'));

export function App() {
  return (
    <Router hook={useHashLocation}>
      <ToastProvider>
        <SessionProvider
          loading={<Loading />}
          failed={(problem, retry) => (
            <main style={{ maxWidth: 560, margin: '15vh auto', padding: 20 }}>
              <h1>Heliograph</h1>
              <ProblemCallout problem={problem} onRetry={retry} />
            </main>
          )}
        >
          <Layout>
            <ErrorBoundary>
              <Suspense fallback={<Loading />}>
                <Pages />
              </Suspense>
            </ErrorBoundary>
          </Layout>
        </SessionProvider>
      </ToastProvider>
    </Router>
  );
}

/** Without a session, every page but the public ones shows the sign-in form. */
function Pages() {
  const { account } = useSession();
  if (account === null) {
    return (
      <Switch>
        <Route path="/" component={Landing} />
        <Route path="/sign-up" component={Landing} />
        <Route path="/set-password/:token" component={SetPassword} />
        <Route component={SignIn} />
      </Switch>
    );
  }
  return (
    <Switch>
      <Route path="/set-password/:token" component={SetPassword} />
      <Route path="/" component={Applications} />
      <Route path="/sign-in" component={Applications} />
      <Route path="/sign-up" component={Applications} />
      <Route path="/applications" component={Applications} />
      <Route path="/applications/:id/:tab?/:record?" component={OneApplication} />
      {account.operator && <Route path="/operator/*?" component={OperatorPages} />}
      <Route component={NotFound} />
    </Switch>
  );
}

/** The key resets the state of the page when the application changes. */
function OneApplication() {
  const { id, tab = 'overview', record } = useParams<{ id: string; tab?: string; record?: string }>();
  return <ApplicationPage key={id} id={id} tab={tab} record={record} />;
}

function Loading() {
  return (
    <div aria-busy="true" style={{ padding: 24 }}>
      <Skeleton height={36} width={260} mb={24} />
      <Skeleton height={180} mb={16} />
      <Skeleton height={180} />
    </div>
  );
}
