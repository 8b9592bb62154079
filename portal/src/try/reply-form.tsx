import { ActionIcon, NativeSelect, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { call } from '../api/call.ts';
import { Icon } from '../parts/icon.tsx';
import { ProblemCallout } from '../parts/notice/problem-callout.tsx';
import { useAction } from '../session/use-action.ts';
import { words } from '../words/try.tsx';
import styles from './handset.module.css';

interface ReplyFormProps {
  applicationId: string;
  /** The phone that replies. */
  from: string;
  /** The senders of its texts, newest first. */
  senders: string[];
  onReplied: () => void;
}

/** Replies to a text as the person with the phone would. */
export function ReplyForm({ applicationId, from, senders, onReplied }: ReplyFormProps) {
  const [chosen, setChosen] = useState<string | undefined>(undefined);
  const [message, setMessage] = useState('');
  const [newest = ''] = senders;
  const to = chosen !== undefined && senders.includes(chosen) ? chosen : newest;
  const { run, busy, problem } = useAction(async () => {
    const body = { application_id: applicationId, from, to, message };
    await call('POST', '/sandbox/v1/inbox/replies', { body });
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
          data={senders.map((sender) => ({ value: sender, label: words.handset.to(sender) }))}
          value={to}
          onChange={(event) => setChosen(event.currentTarget.value)}
        />
      )}
      <div className={styles.replyLine}>
        <TextInput
          aria-label={words.reply.message(to)}
          placeholder={words.reply.message(to)}
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
