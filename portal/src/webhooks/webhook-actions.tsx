import { Button } from '@mantine/core';
import { useState } from 'react';
import { useLocation } from 'wouter';
import { call } from '../api/call.ts';
import type { NewWebhookSecret, Webhook } from '../api/types.ts';
import { useAction } from '../api/use-action.ts';
import { Rotate } from '../credentials/rotate.tsx';
import { ConfirmButton } from '../parts/confirm-button.tsx';
import { Icon } from '../parts/icon.tsx';
import { ProblemCallout } from '../parts/problem-callout.tsx';
import { useToast } from '../parts/toast.tsx';
import { NewSecret } from './new-secret.tsx';
import { WebhookForm } from './webhook-form.tsx';
import styles from './webhooks.module.css';

interface WebhookActionsProps {
  webhook: Webhook;
  path: string;
  /** The list of webhooks. */
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
    showToast('Webhook paused.');
    onChange();
  });
  return (
    <>
      <div className={styles.actions}>
        {webhook.status === 'active' && (
          <Button variant="default" loading={pause.busy} onClick={() => pause.run()}>
            Pause
          </Button>
        )}
        <Button variant="default" leftSection={<Icon name="edit" size={16} />} onClick={() => setEditing(true)}>
          Edit
        </Button>
        <Rotate
          what="secret"
          older="Older secrets"
          rotate={async (overlapSeconds) => {
            const body = { overlap_seconds: overlapSeconds };
            setSecret((await call<NewWebhookSecret>('POST', `${path}/secrets`, { body })).secret);
            onChange();
          }}
        />
        <ConfirmButton
          label="Delete"
          size="sm"
          question="Delete this webhook?"
          act={async () => {
            await call('DELETE', path);
            showToast('Webhook deleted.');
            navigate(back);
          }}
        >
          Nothing more is sent to {webhook.url}, and its list of deliveries is deleted. You cannot undo this.
        </ConfirmButton>
      </div>
      <ProblemCallout problem={pause.problem} />
      {editing && (
        <WebhookForm
          title="Edit webhook"
          action="Save"
          before={webhook}
          onClose={() => setEditing(false)}
          save={async (fields) => {
            await call('PATCH', path, { body: fields });
            showToast('Webhook saved.');
            setEditing(false);
            onChange();
          }}
        />
      )}
      {secret !== undefined && <NewSecret secret={secret} onClose={() => setSecret(undefined)} />}
    </>
  );
}
