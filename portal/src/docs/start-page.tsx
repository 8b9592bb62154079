import { Link } from 'wouter';
import { PageTitle } from '../parts/page-title.tsx';
import { useSession } from '../session/session.tsx';
import { words } from '../words/docs.tsx';
import { useCredentials } from './credentials.ts';
import styles from './docs.module.css';
import { guides } from './guides/guide-list.ts';
import type { Api } from './model/operations.ts';
import { SampleCard } from './operation/sample-card.tsx';
import { useValues } from './operation/use-values.ts';
import { makeRequest } from './samples/make-request.ts';

/** The start page: the guides, the APIs and a working first call. */
export function StartPage({ apis }: { apis: Api[] }) {
  return (
    <>
      <PageTitle documentTitle={words.start.documentTitle} lead={words.start.lead}>
        {words.start.title}
      </PageTitle>
      <FirstCall apis={apis} />
      {guides.length > 0 && (
        <>
          <h2 className={styles.heading}>{words.start.guides}</h2>
          <ul className={styles.cards}>
            {guides.map(({ slug, title, summary }) => (
              <Card key={slug} href={`/docs/guides/${slug}`} title={title} about={summary} />
            ))}
          </ul>
        </>
      )}
      <h2 className={styles.heading}>{words.start.apis}</h2>
      <ul className={styles.cards}>
        {apis.map(({ slug, name, description }) => (
          <Card key={slug} href={`/docs/reference#${slug}`} title={name} about={description} />
        ))}
      </ul>
      <h2 className={styles.heading}>{words.start.programs}</h2>
      <p>{words.start.openApi}</p>
    </>
  );
}

function Card({ href, title, about }: { href: string; title: string; about: string }) {
  return (
    <li>
      <Link href={href} className={styles.card ?? ''}>
        <strong>{title}</strong>
        <span>{about}</span>
      </Link>
    </li>
  );
}

function FirstCall({ apis }: { apis: Api[] }) {
  const { service } = useSession();
  const [credentials] = useCredentials();
  const operation = apis.flatMap(({ operations }) => operations).find(({ id }) => id === 'sendSms');
  if (operation === undefined) return null;
  const { base_url: baseUrl, token_url: tokenUrl } = service;
  return (
    <div className={styles.first}>
      <div>
        <p>{words.start.calls(baseUrl)}</p>
        <p>{words.start.firstCalls}</p>
        <p>{words.start.errors}</p>
      </div>
      <FirstSample key={operation.id} {...{ operation, credentials, baseUrl, tokenUrl }} />
    </div>
  );
}

function FirstSample(props: {
  operation: Api['operations'][number];
  credentials: ReturnType<typeof useCredentials>[0];
  baseUrl: string;
  tokenUrl: string;
}) {
  const { operation, credentials, baseUrl, tokenUrl } = props;
  const [values] = useValues(operation);
  return <SampleCard request={makeRequest(operation, values, credentials, { baseUrl, tokenUrl })} />;
}
