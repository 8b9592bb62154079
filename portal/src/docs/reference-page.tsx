import { Link } from 'wouter';
import { PageTitle } from '../parts/page-title.tsx';
import { words } from '../words/docs.tsx';
import styles from './docs.module.css';
import { Method } from './method.tsx';
import type { Api } from './model/operations.ts';
import { useTarget } from './operation/use-target.ts';

/** Every operation by API. */
export function ReferencePage({ apis }: { apis: Api[] }) {
  useTarget();
  return (
    <>
      <PageTitle lead={words.operations.lead}>{words.navigation.operations}</PageTitle>
      {apis.map(({ slug, name, description, operations }) => (
        <section key={slug} aria-labelledby={slug}>
          <h2 className={styles.heading} id={slug}>
            {name}
          </h2>
          <p className={styles.quiet}>{description}</p>
          <ul className={styles.rows}>
            {operations.map(({ id, method, path, summary }) => (
              <li key={id}>
                <Link href={`/docs/reference/${id}`} className={styles.row ?? ''}>
                  <Method method={method} />
                  <span>{summary}</span>
                  <code>{path}</code>
                </Link>
              </li>
            ))}
          </ul>
        </section>
      ))}
    </>
  );
}
