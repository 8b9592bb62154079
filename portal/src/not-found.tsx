import { Link } from 'wouter';
import { EmptyState } from './parts/empty-state.tsx';
import { PageTitle } from './parts/page-title.tsx';

export function NotFound() {
  return (
    <>
      <PageTitle>Page not found</PageTitle>
      <EmptyState title="This page does not exist, or it belongs to another account">
        Go back to <Link href="/applications">your applications</Link>.
      </EmptyState>
    </>
  );
}
