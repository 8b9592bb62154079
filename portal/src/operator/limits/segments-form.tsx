import { Button, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { call } from '../../api/call.ts';
import { ProblemCallout } from '../../parts/notice/problem-callout.tsx';
import { useToast } from '../../parts/notice/toast.tsx';
import { useAction } from '../../session/use-action.ts';
import { words } from '../../words/operator/limits.ts';
import styles from '../operator.module.css';

interface SegmentsFormProps {
  path: string;
  segments: number | null;
  onSaved: () => void;
}

/** The maximum number of segments that an application may send per day. */
export function SegmentsForm({ path, segments, onSaved }: SegmentsFormProps) {
  const showToast = useToast();
  const before = segments === null ? '' : String(segments);
  const [typed, setTyped] = useState(before);
  const { run, busy, problem } = useAction(async () => {
    const body = { segments_per_day: typed === '' ? null : toNumber(typed) };
    await call('PATCH', path, { body });
    showToast(words.saved);
    onSaved();
  });

  function submit(event: FormEvent): void {
    event.preventDefault();
    run();
  }

  return (
    <form className={styles.search} onSubmit={submit} noValidate>
      <TextInput
        label={words.ofApplication}
        placeholder={words.asPlan}
        inputMode="numeric"
        value={typed}
        onChange={(event) => setTyped(event.currentTarget.value.trim())}
        error={problem?.of('segments_per_day', words.perDay)}
      />
      <Button
        type="submit"
        variant="default"
        loading={busy}
        disabled={typed === before}
        aria-label={words.saveOf(words.ofApplication)}
      >
        {words.save}
      </Button>
      <ProblemCallout problem={problem} fields={['segments_per_day']} />
    </form>
  );
}

/** An invalid number is sent as typed: the service explains the error. */
function toNumber(typed: string): number | string {
  const number = Number(typed.replaceAll(/[,\s]/g, ''));
  return Number.isFinite(number) ? number : typed;
}
