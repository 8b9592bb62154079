import { Button } from '@mantine/core';
import type { InboundText } from '../api/operator-types.ts';
import type { InboxText } from '../api/record-types.ts';
import { Time } from '../parts/time.tsx';
import { codeIn, splitAutofill } from './autofill.ts';
import styles from './handset.module.css';

interface BubbleProps {
  text: InboxText;
  onCode: (text: InboxText, code: string) => void;
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
        <p className={styles.autofill} title="Phones read this line to fill in the code">
          {autofill}
        </p>
      )}
      <div className={styles.meta}>
        {count} {count === 1 ? 'segment' : 'segments'} · {encoding}
      </div>
      {code !== undefined && (
        <Button size="xs" variant="default" onClick={() => onCode(text, code)}>
          Use code {code}
        </Button>
      )}
    </article>
  );
}

/** What the person with the phone has answered. */
export function ReplyBubble({ reply }: { reply: InboundText }) {
  return (
    <article className={styles.bubble} data-own="">
      <div className={styles.sender}>
        <strong>To {reply.to}</strong>
        <Time at={reply.received_at} />
      </div>
      <p className={styles.said}>{reply.message ?? 'Text removed'}</p>
    </article>
  );
}
