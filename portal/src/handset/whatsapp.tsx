import { Button } from '@mantine/core';
import type { InboxText } from '../api/record-types.ts';
import { CopyTextButton } from '../parts/copy-button.tsx';
import { Icon } from '../parts/icon.tsx';
import { Time } from '../parts/time.tsx';
import { words } from '../words/try.tsx';
import { codeIn } from './autofill.ts';
import styles from './whatsapp.module.css';

interface WhatsAppProps {
  text: InboxText;
  onCode?: (text: InboxText, code: string) => void;
}

/** A WhatsApp message, as an authentication template shows it: the text, and a button that copies the code. */
export function WhatsAppMessage({ text, onCode }: WhatsAppProps) {
  const code = codeIn(text.text);
  return (
    <article className={styles.chat} aria-label={words.whatsapp.name}>
      <header className={styles.bar}>
        <Icon name="person" size={16} />
        <strong>{text.from}</strong>
        <span>{words.whatsapp.name}</span>
      </header>
      <div className={styles.message}>
        <p className={styles.said} lang={text.language} dir="auto">
          {text.text}
        </p>
        <div className={styles.time}>
          <Time at={text.received_at} />
        </div>
        {code !== undefined && (
          <div className={styles.buttons}>
            <CopyTextButton text={code} label={words.whatsapp.copyCode} />
            {onCode !== undefined && (
              <Button size="xs" variant="default" onClick={() => onCode(text, code)}>
                {words.handset.enterCode(code)}
              </Button>
            )}
          </div>
        )}
      </div>
    </article>
  );
}
