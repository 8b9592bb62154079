import { Button } from '@mantine/core';
import { useState } from 'react';
import { useLocation } from 'wouter';
import { call } from '../api/call.ts';
import type { HookDetail, NewHookSecret } from '../api/types.ts';
import { ConfirmButton } from '../parts/confirm-button.tsx';
import { Icon } from '../parts/icon.tsx';
import { useToast } from '../parts/notice/toast.tsx';
import { Rotate } from '../webhooks/rotate.tsx';
import { words as allWords } from '../words/integrations.tsx';
import { HookForm } from './hook-form.tsx';
import styles from './integrations.module.css';
import { makesOwnKey, nameOf } from './kinds.ts';
import { ShownSecret } from './shown-secret.tsx';

const words = allWords.actions;

interface HookActionsProps {
  applicationId: string;
  hook: HookDetail;
  path: string;
  onChange: () => void;
}

export function HookActions({ applicationId, hook, path, onChange }: HookActionsProps) {
  const showToast = useToast();
  const [, navigate] = useLocation();
  const [editing, setEditing] = useState(false);
  const [fresh, setFresh] = useState<NewHookSecret>();
  const own = makesOwnKey(hook.kind);

  async function rotate(overlapSeconds: number, given: string): Promise<void> {
    const body = { overlap_seconds: overlapSeconds, ...(own && { secret: given.trim() }) };
    const made = await call<NewHookSecret>('POST', `${path}/secrets`, { body });
    if (made.secret === null) showToast(words.keySaved);
    else setFresh(made);
    onChange();
  }

  return (
    <div className={styles.actions}>
      <Button variant="default" leftSection={<Icon name="edit" size={16} />} onClick={() => setEditing(true)}>
        {words.edit}
      </Button>
      <Rotate
        what={own ? allWords.form.secret.toLowerCase() : words.secret}
        older={words.olderSecrets}
        rotate={rotate}
        {...(own && { given: { label: words.newKey, description: words.newKeyRule } })}
      />
      <ConfirmButton
        label={words.delete}
        size="sm"
        question={words.deleteQuestion}
        act={async () => {
          await call('DELETE', path);
          showToast(words.deleted);
          navigate(`/applications/${applicationId}/integrations`);
        }}
      >
        {words.deleteDetail(nameOf(hook.kind))}
      </ConfirmButton>
      {editing && (
        <HookForm
          kind={hook.kind}
          title={words.editTitle}
          action={words.save}
          before={hook}
          onClose={() => setEditing(false)}
          save={async (fields) => {
            await call('PATCH', path, { body: fields });
            showToast(words.saved);
            setEditing(false);
            onChange();
          }}
        />
      )}
      {fresh !== undefined && fresh.secret !== null && (
        <ShownSecret
          hook={{ ...hook, settings: fresh.settings }}
          secret={fresh.secret}
          onClose={() => setFresh(undefined)}
        />
      )}
    </div>
  );
}
