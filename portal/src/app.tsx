import { Skeleton } from '@mantine/core';
import { lazy, Suspense } from 'react';
import { Redirect, Route, Router, Switch, useParams } from 'wouter';
import { Applications } from './applications/applications.tsx';
import { Layout } from './layout.tsx';
import { isReferencePath, useAppLocation } from './location.ts';
import { NotFound } from './parts/not-found.tsx';
import { ErrorBoundary } from './parts/notice/error-boundary.tsx';
import { ProblemCallout } from './parts/notice/problem-callout.tsx';
import { ToastProvider } from './parts/notice/toast.tsx';
import { OpenAlertsProvider } from './session/open-alerts.tsx';
import { SessionProvider, useSession } from './session/session.tsx';
import { Invitation } from './visitor/invitation.tsx';
import { Landing } from './visitor/landing.tsx';
import { SetPassword } from './visitor/set-password.tsx';
import { SignIn } from './visitor/sign-in.tsx';
import { SignInByLink } from './visitor/sign-in-by-link.tsx';
import { words } from './words/layout.tsx';

const AccountPage = lazy(() => import('./account/account-page.tsx'));
const AuditPage = lazy(() => import('./account/audit-page.tsx'));
const ApplicationPage = lazy(() => import('./applications/application-page.tsx'));
const FindPage = lazy(() => import('./find/find-page.tsx'));
const OpenedRecord = lazy(() => import('./find/opened-record.tsx'));
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
          <OpenAlertsProvider>
            <Layout>
              <ErrorBoundary>
                <Suspense fallback={<Loading />}>
                  <Pages />
                </Suspense>
              </ErrorBoundary>
            </Layout>
          </OpenAlertsProvider>
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
        <Route path="/sign-in/:token" component={SignInByLink} />
        <Route component={SignIn} />
      </Switch>
    );
  }
  return (
    <Switch>
      <Route path="/docs/*?" component={Docs} />
      <Route path="/set-password/:token" component={SetPassword} />
      <Route path="/invitation/:token" component={Invitation} />
      <Route path="/sign-in/:token" component={SignInByLink} />
      <Route path="/account" component={AccountPage} />
      {account.role === 'owner' && <Route path="/account/audit" component={AuditPage} />}
      <Route path="/" component={Home} />
      <Route path="/sign-in" component={Home} />
      <Route path="/sign-up" component={Home} />
      <Route path="/applications" component={Applications} />
      <Route path="/applications/:id/:tab?/:record?/:part?" component={OneApplication} />
      <Route path="/find" component={FindPage} />
      {account.operator && <Route path="/operator/records/:id" component={OpenedRecord} />}
      {account.operator && <Route path="/operator/*?" component={OperatorPages} />}
      <Route component={NotFound} />
    </Switch>
  );
}

/** The first page after a sign-in without a deep link. */
function Home() {
  const { account } = useSession();
  return account?.operator ? <Redirect to="/operator/now" replace /> : <Applications />;
}

/** The key resets the state of the page when the application changes. */
function OneApplication() {
  const {
    id,
    tab = 'overview',
    record,
    part,
  } = useParams<{ id: string; tab?: string; record?: string; part?: string }>();
  return <ApplicationPage key={id} id={id} tab={tab} record={record} part={part} />;
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
