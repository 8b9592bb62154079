import { Button, Group, Modal, Stack, Title } from '@mantine/core';
import { Link } from 'wouter';
import { apiTitle } from '../api/apis.ts';
import type { ApiName, Credential } from '../api/types.ts';
import { Callout } from '../parts/callout.tsx';
import { CodeBlock } from '../parts/code-block.tsx';
import { useSession } from '../session/session.tsx';
import { curlSteps } from './curl.ts';

interface NewCredentialProps {
  credential: Credential;
  api: ApiName;
  pending: boolean;
  applicationId: string;
  onClose: () => void;
}

/** Shown once. Only its button closes it, so that a stray click cannot lose the secret. */
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
        <Callout tone="wait" title={`Copy the ${name} now. It will not be shown again.`}>
          The service stores only a hash of it. If you lose it, create a new one.
        </Callout>
        {isKey ? (
          <CodeBlock what="the API key" text={credential.api_key} />
        ) : (
          <>
            <Secret title="Client id" what="the client id" text={credential.client_id} />
            <Secret title="Client secret" what="the client secret" text={credential.client_secret} />
          </>
        )}
        {pending && (
          <Callout tone="calm">
            It works once an operator approves the registration. Until then, requests get a 401.
          </Callout>
        )}
        {curlSteps(credential, api, service).map(({ title, line }, index, { length }) => (
          <Secret
            key={title}
            title={length > 1 ? `${index + 1}. ${title}` : title}
            what={`the curl command: ${title.toLowerCase()}`}
            text={line}
          />
        ))}
        <Group justify="space-between">
          <Button component={Link} href={`/applications/${applicationId}/try`} variant="default">
            Try it in the portal
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
