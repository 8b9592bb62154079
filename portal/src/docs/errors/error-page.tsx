import errors, { type ErrorText } from 'virtual:errors';
import { Link } from 'wouter';
import { EmptyState } from '../../parts/notice/empty-state.tsx';
import { PageTitle } from '../../parts/page-title.tsx';
import { HttpStatus } from '../../parts/status.tsx';
import { words } from '../../words/docs.tsx';
import styles from '../docs.module.css';
import { GuideHtml } from '../guides/guide-html.tsx';
import { Neighbours } from '../neighbours.tsx';
import { Prose } from '../prose.tsx';

/** One error at /docs/errors/{name}: the header Link of an error response leads here. Without a name, the list. */
export default function ErrorPage({ name }: { name: string | undefined }) {
  if (name === undefined) return <ErrorList />;
  const index = errors.findIndex((each) => each.name === name);
  const error = errors[index];
  if (error === undefined)
    return (
      <>
        <PageTitle>{words.errors.notFound}</PageTitle>
        <EmptyState title={words.errors.notFoundWhy}>{words.errors.notFoundNext}</EmptyState>
      </>
    );
  return (
    <div className={styles.narrow}>
      <p className={styles.above}>
        <Link href="/docs/errors">{words.errors.title}</Link>
      </p>
      <PageTitle lead={<Prose text={error.summary} />}>{titleOf(error)}</PageTitle>
      <p>
        <HttpStatus status={Number(error.status)} />
      </p>
      <GuideHtml html={error.html} />
      <Neighbours previous={neighbour(errors[index - 1])} next={neighbour(errors[index + 1])} />
    </div>
  );
}

function ErrorList() {
  return (
    <>
      <PageTitle lead={words.errors.lead}>{words.errors.title}</PageTitle>
      <ul className={styles.rows}>
        {errors.map((error) => (
          <li key={error.name}>
            <Link href={`/docs/errors/${error.name}`} className={styles.errorRow ?? ''}>
              <HttpStatus status={Number(error.status)} />
              <code>{titleOf(error)}</code>
              <span>
                <Prose text={error.summary} />
              </span>
            </Link>
          </li>
        ))}
      </ul>
    </>
  );
}

/** A 429 has no code. */
function titleOf({ name }: ErrorText): string {
  return name === '429' ? words.errors.tooMany : name;
}

function neighbour(error: ErrorText | undefined): { href: string; title: string } | undefined {
  return error && { href: `/docs/errors/${error.name}`, title: titleOf(error) };
}
