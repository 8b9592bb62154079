import { ActionIcon, NativeSelect, TextInput } from '@mantine/core';
import { type FormEvent, useEffect, useRef, useState } from 'react';
import { call } from '../api/call.ts';
import { Icon } from '../parts/icon.tsx';
import { ProblemCallout } from '../parts/notice/problem-callout.tsx';
import { useToast } from '../parts/notice/toast.tsx';
import { useAction } from '../session/use-action.ts';
import { words } from '../words/try.tsx';
import styles from './handset.module.css';

interface ReplyFormProps {
  applicationId: string;
  /** The phone that replies. */
  from: string;
  /** The senders of its texts, newest first. */
  senders: string[];
  /** A text to begin with; another one replaces what is written. */
  draft?: Draft | undefined;
  onReplied: () => void;
}

export interface Draft {
  from: string;
  to: string;
  message: string;
}

/** In the sandbox this number receives the texts of verifications for every application. */
const verificationNumber = '+15005550199';

/** Replies to a text as the person with the phone would. */
export function ReplyForm({ applicationId, from, senders: known, draft, onReplied }: ReplyFormProps) {
  const [chosen, setChosen] = useState<string | undefined>(undefined);
  const [message, setMessage] = useState('');
  const showToast = useToast();
  const field = useRef<HTMLInputElement>(null);
  const senders = [...new Set([...known, verificationNumber])];
  const [newest = ''] = senders;
  const to = chosen !== undefined && senders.includes(chosen) ? chosen : newest;

  useEffect(() => {
    if (draft?.from !== from) return;
    setChosen(draft.to);
    setMessage(draft.message);
    field.current?.focus();
  }, [draft, from]);

  const { run, busy, problem } = useAction(async () => {
    const body = { application_id: applicationId, from, to, message };
    const taken = await call<{ verification_id?: string }>('POST', '/sandbox/v1/inbox/replies', { body });
    if (to === verificationNumber) showToast(words.reply.approved(taken.verification_id !== undefined));
    setMessage('');
    onReplied();
  });

  function submit(event: FormEvent): void {
    event.preventDefault();
    run();
  }

  return (
    <form className={styles.reply} onSubmit={submit} noValidate>
      {senders.length > 1 && (
        <NativeSelect
          aria-label={words.reply.sender}
          size="xs"
          data={senders.map((sender) => ({
            value: sender,
            label: words.reply.to(sender, sender === verificationNumber),
          }))}
          value={to}
          onChange={(event) => setChosen(event.currentTarget.value)}
        />
      )}
      <div className={styles.replyLine}>
        <TextInput
          ref={field}
          aria-label={words.reply.message(to, to === verificationNumber)}
          placeholder={words.reply.message(to, to === verificationNumber)}
          size="sm"
          radius="xl"
          value={message}
          onChange={(event) => setMessage(event.currentTarget.value)}
        />
        <ActionIcon
          type="submit"
          size={36}
          radius="xl"
          aria-label={words.reply.send}
          title={words.reply.send}
          loading={busy}
          disabled={message === ''}
        >
          <Icon name="up" size={17} />
        </ActionIcon>
      </div>
      <ProblemCallout problem={problem} />
    </form>
  );
}
