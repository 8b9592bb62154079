import { Link } from 'wouter';
import { Empty } from './parts/empty.tsx';
import { PageTitle } from './parts/page-title.tsx';

export function NotFound() {
  return (
    <>
      <PageTitle>Nothing at this address</PageTitle>
      <Empty title="The page is not there, or belongs to another account">
        Go back to <Link href="/applications">your applications</Link>.
      </Empty>
    </>
  );
}
