import { use } from 'react';
import { useSession } from '../../session/session.tsx';
import { words } from '../../words/docs.tsx';
import { Code } from '../code.tsx';
import { useCredentials } from '../credentials.ts';
import { loadPart } from '../model/load.ts';
import { CredentialCard } from '../operation/credential-card.tsx';
import { SampleCard } from '../operation/sample-card.tsx';
import { makeRequest } from '../samples/make-request.ts';
import { findCall, valuesOf } from './find-call.ts';
import type { GuideCall } from './guide-calls.ts';
import styles from './guide-text.module.css';

/** A call of a guide in every language of the reference, with the address and the credential of the reader. */
export function GuideCallCard({ call }: { call: GuideCall }) {
  const { service } = useSession();
  const [credentials] = useCredentials();
  const found = findCall(use(loadPart('apis')), call);
  if (found === undefined) return <Code text={call.shell} language="curl" what={words.sample.copy('curl')} />;
  const { base_url: baseUrl, token_url: tokenUrl } = service;
  const request = makeRequest(found, valuesOf(found, call), credentials, { baseUrl, tokenUrl });
  return (
    <div className={styles.call}>
      <SampleCard request={request} />
      <CredentialCard kind={found.credentials[0]} />
    </div>
  );
}
