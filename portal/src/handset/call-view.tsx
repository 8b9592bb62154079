import { Button } from '@mantine/core';
import { useEffect, useState } from 'react';
import type { InboxText } from '../api/record-types.ts';
import { Icon } from '../parts/icon.tsx';
import { Time } from '../parts/time.tsx';
import { words } from '../words/try.tsx';
import styles from './call.module.css';
import { canSpeak, speak, stopSpeaking } from './speak.ts';
import type { CallState, Calls } from './use-calls.ts';

interface CallProps {
  text: InboxText;
  calls: Calls;
}

/** A call that rings. Speech needs a press of the person, so the answer begins it. */
export function RingingCall({ text, calls }: CallProps) {
  return (
    <section className={styles.ringing} aria-label={words.call.incoming}>
      <span className={styles.rings} aria-hidden="true">
        <Icon name="call" size={30} />
      </span>
      <div role="alert">
        <div className={styles.kind}>{words.call.incoming}</div>
        <strong className={styles.caller}>{text.from}</strong>
      </div>
      <div className={styles.choices}>
        <button type="button" className={styles.decline} onClick={() => calls.decline(text)}>
          {words.call.decline}
        </button>
        <button
          type="button"
          className={styles.answer}
          onClick={() => {
            calls.answer(text);
            if (canSpeak()) speak(text.text, text.language ?? 'en', () => {});
          }}
        >
          {words.call.answer}
        </button>
      </div>
      <p className={styles.hint}>{words.call.letRing}</p>
    </section>
  );
}

/** A call that is over, with what it said to the person who answered. */
export function CallBubble({ text, state }: { text: InboxText; state: CallState }) {
  return (
    <article className={styles.call} data-state={state}>
      <div className={styles.head}>
        <Icon name="call" size={16} />
        <strong>{words.call.states[state](text.from)}</strong>
        <Time at={text.received_at} />
      </div>
      {state === 'answered' && (
        <>
          <p className={styles.said} lang={text.language} dir="auto">
            {text.text}
          </p>
          <Voice text={text} />
        </>
      )}
    </article>
  );
}

/** Speaks the words of a call, where the browser can. */
function Voice({ text }: { text: InboxText }) {
  const [speaking, setSpeaking] = useState(false);
  useEffect(() => stopSpeaking, []);
  if (!canSpeak()) return <p className={styles.hint}>{words.call.noVoice}</p>;

  function toggle(): void {
    if (speaking) stopSpeaking();
    else speak(text.text, text.language ?? 'en', () => setSpeaking(false));
    setSpeaking(!speaking);
  }

  return (
    <Button size="xs" variant="default" onClick={toggle}>
      {speaking ? words.call.stop : words.call.play}
    </Button>
  );
}
