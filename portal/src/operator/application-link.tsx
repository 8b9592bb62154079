import { Link } from 'wouter';

/** Links an id to the application's name, owner and limits. */
export function ApplicationLink({ id }: { id: string }) {
  return (
    <Link href={`/operator/limits/${id}`}>
      <code>{id}</code>
    </Link>
  );
}
