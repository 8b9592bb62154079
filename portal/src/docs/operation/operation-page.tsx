import { Button } from '@mantine/core';
import { use, useMemo, useState } from 'react';
import { Link } from 'wouter';
import { useFragment } from '../../location.ts';
import { CopyButton } from '../../parts/copy-button.tsx';
import { Icon } from '../../parts/icon.tsx';
import { EmptyState } from '../../parts/notice/empty-state.tsx';
import { PageTitle } from '../../parts/page-title.tsx';
import { useSession } from '../../session/session.tsx';
import { words } from '../../words/docs.tsx';
import { useCredentials } from '../credentials.ts';
import { Method } from '../method.tsx';
import { type Found, findOperation } from '../model/load.ts';
import { type Operation, slugOf } from '../model/operations.ts';
import { Neighbours } from '../neighbours.tsx';
import { Prose } from '../prose.tsx';
import { makeRequest } from '../samples/make-request.ts';
import { TryPanel } from '../try/try-panel.tsx';
import { AnswerCard, type ShownAnswer } from './answer-card.tsx';
import { CredentialCard } from './credential-card.tsx';
import styles from './operation-page.module.css';
import { OperationSections } from './operation-sections.tsx';
import { SampleCard } from './sample-card.tsx';
import { useTarget } from './use-target.ts';
import { useValues } from './use-values.ts';

/** One operation at /docs/reference/{operationId}. */
export function OperationPage({ id }: { id: string }) {
  const found = use(findOperation(id));
  if (found === undefined) return <UnknownOperation id={id} />;
  return <Page found={found} />;
}

function Page({ found: { operation, previous, next } }: { found: Found }) {
  const { service } = useSession();
  const [values, change] = useValues(operation);
  const [credentials] = useCredentials();
  const fragment = useFragment();
  const [shown, show] = useState<ShownAnswer>(() => firstAnswer(operation, fragment));
  const [isTrying, setTrying] = useState(false);
  useTarget();
  const request = useMemo(
    () => makeRequest(operation, values, credentials, { baseUrl: service.base_url, tokenUrl: service.token_url }),
    [operation, values, credentials, service],
  );
  return (
    <div className={styles.page}>
      <div className={styles.head}>
        <p className={styles.api}>
          <Link href={`/docs/reference#${slugOf(operation.tag)}`}>{operation.tag}</Link>
        </p>
        <PageTitle>{operation.summary}</PageTitle>
        <Endpoint operation={operation} />
        {operation.description !== '' && (
          <p className={styles.about}>
            <Prose text={operation.description} />
          </p>
        )}
        {operation.isStream ? (
          <p className={styles.about}>{words.operation.isStream}</p>
        ) : (
          <Button
            variant={isTrying ? 'default' : 'filled'}
            aria-expanded={isTrying}
            onClick={() => setTrying(!isTrying)}
          >
            {isTrying ? words.operation.close : words.operation.tryIt}
          </Button>
        )}
        {isTrying && <TryPanel operation={operation} values={values} change={change} request={request} />}
      </div>
      <div className={styles.code}>
        <SampleCard request={request} />
        <CredentialCard kind={operation.credentials[0]} />
        <AnswerCard operation={operation} shown={shown} show={show} />
      </div>
      <div className={styles.sections}>
        <OperationSections operation={operation} show={show} />
      </div>
      <Neighbours
        previous={previous && { href: `/docs/reference/${previous.id}`, title: previous.summary }}
        next={next && { href: `/docs/reference/${next.id}`, title: next.summary }}
      />
    </div>
  );
}

/** The error that the address names, or the successful response. */
function firstAnswer({ answers, errors }: Operation, fragment: string): ShownAnswer {
  const named = errors.find(({ code, status }) => fragment === `error-${code || status}`);
  if (named !== undefined)
    return { status: named.status === 'other' ? 'default' : named.status, code: named.code || undefined };
  return { status: answers[0]?.status ?? '', code: undefined };
}

function Endpoint({ operation: { method, path } }: { operation: Operation }) {
  return (
    <div className={styles.endpoint}>
      <Method method={method} />
      <code className={styles.path}>{path}</code>
      <CopyButton text={path} what={words.operation.copyPath} />
    </div>
  );
}

function UnknownOperation({ id }: { id: string }) {
  return (
    <>
      <PageTitle>{words.operation.notFound}</PageTitle>
      <EmptyState title={words.operation.notFoundWhy(id)}>
        <Icon name="search" /> {words.operation.press} <kbd>/</kbd> {words.operation.toSearch}
      </EmptyState>
    </>
  );
}
