import { EmptyState } from './parts/empty-state.tsx';
import { PageTitle } from './parts/page-title.tsx';
import { words } from './words/layout.tsx';

export function NotFound() {
  return (
    <>
      <PageTitle>{words.notFound.title}</PageTitle>
      <EmptyState title={words.notFound.why}>{words.notFound.next}</EmptyState>
    </>
  );
}
