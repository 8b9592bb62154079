import { words } from '../words/layout.tsx';
import { EmptyState } from './notice/empty-state.tsx';
import { PageTitle } from './page-title.tsx';

export function NotFound() {
  return (
    <>
      <PageTitle>{words.notFound.title}</PageTitle>
      <EmptyState title={words.notFound.why}>{words.notFound.next}</EmptyState>
    </>
  );
}
