import { Button, Group, Modal, SegmentedControl, Stack, Title } from '@mantine/core';
import { useState } from 'react';
import { Link } from 'wouter';
import { apiTitle } from '../api/apis.ts';
import type { ApiName, Credential } from '../api/types.ts';
import { CodeBlock } from '../parts/code-block.tsx';
import { Callout } from '../parts/notice/callout.tsx';
import { useSession } from '../session/session.tsx';
import { words as allWords } from '../words/credentials.tsx';
import { clientSample } from './client-sample.ts';
import styles from './credentials.module.css';
import { curlSteps } from './curl.ts';

const words = allWords.fresh;

interface NewCredentialProps {
  credential: Credential;
  api: ApiName;
  pending: boolean;
  applicationId: string;
  onClose: () => void;
}

/** Shown once. Only its button closes it, so that a stray click cannot lose the secret. */
export function NewCredential({ credential, api, pending, applicationId, onClose }: NewCredentialProps) {
  const isKey = credential.type === 'api_key';
  const name = isKey ? words.key : words.secret;
  return (
    <Modal
      opened
      onClose={onClose}
      title={words.title(name, apiTitle(api))}
      size="xl"
      withCloseButton={false}
      closeOnClickOutside={false}
      closeOnEscape={false}
    >
      <Stack>
        <Callout tone="wait" title={words.copyNow(name)}>
          {words.hashed}
        </Callout>
        {isKey ? (
          <CodeBlock what={words.copyKey} text={credential.api_key} />
        ) : (
          <>
            <Secret title={words.clientId} what={words.copyClientId} text={credential.client_id} />
            <Secret title={words.clientSecret} what={words.copyClientSecret} text={credential.client_secret} />
          </>
        )}
        {pending && <Callout tone="calm">{words.pending}</Callout>}
        <FirstCalls credential={credential} api={api} />
        <Group justify="space-between">
          <Button component={Link} href={`/applications/${applicationId}/try`} variant="default">
            {words.tryIt}
          </Button>
          <Button onClick={onClose} data-autofocus>
            {words.done}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}

/** Our client first; curl for every other language. */
function FirstCalls({ credential, api }: Pick<NewCredentialProps, 'credential' | 'api'>) {
  const { service } = useSession();
  const [way, setWay] = useState('client');
  return (
    <>
      <SegmentedControl
        aria-label={words.way}
        value={way}
        onChange={setWay}
        data={[
          { value: 'client', label: words.client },
          { value: 'curl', label: words.curl },
        ]}
      />
      {way === 'client' ? (
        <div>
          <Secret title={words.program} what={words.copyProgram} text={clientSample(credential, api, service)} />
          <p className={styles.install}>{words.install()}</p>
        </div>
      ) : (
        curlSteps(credential, api, service).map(({ title, line }, index, { length }) => (
          <Secret
            key={title}
            title={length > 1 ? words.step(index + 1, title) : title}
            what={words.copyStep(title)}
            text={line}
          />
        ))
      )}
    </>
  );
}

function Secret({ title, what, text }: { title: string; what: string; text: string }) {
  return (
    <div>
      <Title order={3} mb={6}>
        {title}
      </Title>
      <CodeBlock what={what} text={text} />
    </div>
  );
}
