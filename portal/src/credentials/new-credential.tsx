import { Button, Group, Modal, Stack, Title } from '@mantine/core';
import { Link } from 'wouter';
import { apiTitle } from '../api/apis.ts';
import type { ApiName, Credential } from '../api/types.ts';
import { CodeBlock } from '../parts/code-block.tsx';
import { Note } from '../parts/note.tsx';
import { useSession } from '../session/session.tsx';
import { curlSteps } from './curl.ts';

interface NewCredentialProps {
  credential: Credential;
  api: ApiName;
  pending: boolean;
  applicationId: string;
  onClose: () => void;
}

/** Shown this once. It closes by its button only, so that no stray click loses a secret. */
export function NewCredential({ credential, api, pending, applicationId, onClose }: NewCredentialProps) {
  const { service } = useSession();
  const isKey = credential.type === 'api_key';
  const name = isKey ? 'API key' : 'client secret';
  return (
    <Modal
      opened
      onClose={onClose}
      title={`Your ${name} for ${apiTitle(api)}`}
      size="xl"
      withCloseButton={false}
      closeOnClickOutside={false}
      closeOnEscape={false}
    >
      <Stack>
        <Note tone="wait" title={`Copy the ${name} now: it will not be shown again.`}>
          Only a fingerprint of it is stored here. If it gets lost, make a new one.
        </Note>
        {isKey ? (
          <CodeBlock what="the API key" text={credential.api_key} />
        ) : (
          <>
            <Secret title="Client id" what="the client id" text={credential.client_id} />
            <Secret title="Client secret" what="the client secret" text={credential.client_secret} />
          </>
        )}
        {pending && (
          <Note tone="calm">
            It works as soon as an operator has approved the registration; until then it is a 401.
          </Note>
        )}
        {curlSteps(credential, api, service).map(({ title, line }, index, { length }) => (
          <Secret
            key={title}
            title={length > 1 ? `${index + 1}. ${title}` : title}
            what={`the curl line: ${title.toLowerCase()}`}
            text={line}
          />
        ))}
        <Group justify="space-between">
          <Button component={Link} href={`/applications/${applicationId}/try`} variant="default">
            Try it on this page
          </Button>
          <Button onClick={onClose} data-autofocus>
            I have copied it
          </Button>
        </Group>
      </Stack>
    </Modal>
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
