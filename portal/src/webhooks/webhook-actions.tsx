import { Button } from '@mantine/core';
import { useState } from 'react';
import { useLocation } from 'wouter';
import { call } from '../api/call.ts';
import type { NewWebhookSecret, Webhook } from '../api/types.ts';
import { ConfirmButton } from '../parts/confirm-button.tsx';
import { Icon } from '../parts/icon.tsx';
import { ProblemCallout } from '../parts/notice/problem-callout.tsx';
import { useToast } from '../parts/notice/toast.tsx';
import { useAction } from '../session/use-action.ts';
import { words } from '../words/webhooks.tsx';
import { NewSecret } from './new-secret.tsx';
import { Rotate } from './rotate.tsx';
import { WebhookForm } from './webhook-form.tsx';
import styles from './webhooks.module.css';

interface WebhookActionsProps {
  webhook: Webhook;
  path: string;
  /** The address of the list of webhooks. */
  back: string;
  onChange: () => void;
}

export function WebhookActions({ webhook, path, back, onChange }: WebhookActionsProps) {
  const showToast = useToast();
  const [, navigate] = useLocation();
  const [editing, setEditing] = useState(false);
  const [secret, setSecret] = useState<string | undefined>(undefined);
  const pause = useAction(async () => {
    await call('PATCH', path, { body: { status: 'paused' } });
    showToast(words.actions.paused);
    onChange();
  });
  return (
    <>
      <div className={styles.actions}>
        {webhook.status === 'active' && (
          <Button variant="default" loading={pause.busy} onClick={() => pause.run()}>
            {words.actions.pause}
          </Button>
        )}
        <Button variant="default" leftSection={<Icon name="edit" size={16} />} onClick={() => setEditing(true)}>
          {words.actions.edit}
        </Button>
        <Rotate
          what={words.actions.secret}
          older={words.actions.olderSecrets}
          rotate={async (overlapSeconds) => {
            const body = { overlap_seconds: overlapSeconds };
            setSecret((await call<NewWebhookSecret>('POST', `${path}/secrets`, { body })).secret);
            onChange();
          }}
        />
        <ConfirmButton
          label={words.actions.delete}
          size="sm"
          question={words.actions.deleteQuestion}
          act={async () => {
            await call('DELETE', path);
            showToast(words.actions.deleted);
            navigate(back);
          }}
        >
          {words.actions.deleteDetail(webhook.url)}
        </ConfirmButton>
      </div>
      <ProblemCallout problem={pause.problem} />
      {editing && (
        <WebhookForm
          title={words.actions.editTitle}
          action={words.actions.save}
          before={webhook}
          onClose={() => setEditing(false)}
          save={async (fields) => {
            await call('PATCH', path, { body: fields });
            showToast(words.actions.saved);
            setEditing(false);
            onChange();
          }}
        />
      )}
      {secret !== undefined && <NewSecret secret={secret} onClose={() => setSecret(undefined)} />}
    </>
  );
}
