import { Button } from '@mantine/core';
import type { InboundText } from '../api/operator-types.ts';
import type { InboxText } from '../api/record-types.ts';
import { Time } from '../parts/time.tsx';
import { words } from '../words/try.tsx';
import { codeIn, splitAutofill } from './autofill.ts';
import styles from './handset.module.css';

interface BubbleProps {
  text: InboxText;
  onCode?: (text: InboxText, code: string) => void;
}

/** One text on the handset. */
export function Bubble({ text, onCode }: BubbleProps) {
  const { said, autofill } = splitAutofill(text.text);
  const code = text.verification_id === null ? undefined : codeIn(text.text);
  const { count, encoding } = text.segments;
  return (
    <article className={styles.bubble}>
      <div className={styles.sender}>
        <strong>{text.from}</strong>
        <Time at={text.received_at} />
      </div>
      <p className={styles.said}>{said}</p>
      {autofill !== undefined && (
        <p className={styles.autofill} title={words.handset.autofill}>
          {autofill}
        </p>
      )}
      <div className={styles.meta}>
        {words.handset.segments(count)} · {encoding}
      </div>
      {code !== undefined && onCode !== undefined && (
        <Button size="xs" variant="default" onClick={() => onCode(text, code)}>
          {words.handset.enterCode(code)}
        </Button>
      )}
    </article>
  );
}

/** A reply of the person with the phone. */
export function ReplyBubble({ reply }: { reply: InboundText }) {
  return (
    <article className={styles.bubble} data-own="">
      <div className={styles.sender}>
        <strong>{words.handset.to(reply.to)}</strong>
        <Time at={reply.received_at} />
      </div>
      <p className={styles.said}>{reply.message ?? words.textRemoved}</p>
    </article>
  );
}
