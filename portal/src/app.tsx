import { Skeleton } from '@mantine/core';
import { lazy, Suspense } from 'react';
import { Route, Router, Switch, useParams } from 'wouter';
import { Applications } from './applications/applications.tsx';
import { Layout } from './layout.tsx';
import { isReferencePath, useAppLocation } from './location.ts';
import { NotFound } from './parts/not-found.tsx';
import { ErrorBoundary } from './parts/notice/error-boundary.tsx';
import { ProblemCallout } from './parts/notice/problem-callout.tsx';
import { ToastProvider } from './parts/notice/toast.tsx';
import { SessionProvider, useSession } from './session/session.tsx';
import { Invitation } from './visitor/invitation.tsx';
import { Landing } from './visitor/landing.tsx';
import { SetPassword } from './visitor/set-password.tsx';
import { SignIn } from './visitor/sign-in.tsx';
import { words } from './words/layout.tsx';

const AccountPage = lazy(() => import('./account/account-page.tsx'));
const AuditPage = lazy(() => import('./account/audit-page.tsx'));
const ApplicationPage = lazy(() => import('./applications/application-page.tsx'));
const loadDocs = () => import('./docs/docs.tsx');
const Docs = lazy(loadDocs);
const OperatorPages = lazy(() => import('./operator/operator-pages.tsx'));

// The reference is public: it does not wait for the session.
if (isReferencePath(location.pathname)) void loadDocs();

export function App() {
  return (
    <Router hook={useAppLocation} hrefs={useAppLocation.hrefs}>
      <ToastProvider>
        <SessionProvider
          loading={<Loading />}
          failed={(problem, retry) => (
            <main style={{ maxWidth: 560, marginTop: '15vh', marginInline: 'auto', padding: 20 }}>
              <h1>{words.product}</h1>
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
        <Route path="/docs/*?" component={Docs} />
        <Route path="/" component={Landing} />
        <Route path="/sign-up" component={Landing} />
        <Route path="/set-password/:token" component={SetPassword} />
        <Route path="/invitation/:token" component={Invitation} />
        <Route component={SignIn} />
      </Switch>
    );
  }
  return (
    <Switch>
      <Route path="/docs/*?" component={Docs} />
      <Route path="/set-password/:token" component={SetPassword} />
      <Route path="/invitation/:token" component={Invitation} />
      <Route path="/account" component={AccountPage} />
      {account.role === 'owner' && <Route path="/account/audit" component={AuditPage} />}
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
