import type { MouseEvent } from 'react';
import { useToast } from '../../parts/notice/toast.tsx';
import { useSession } from '../../session/session.tsx';
import { words } from '../../words/docs.tsx';
import { useCredentials } from '../credentials.ts';
import { fillIn } from './fill-in.ts';
import { GuideCallCard } from './guide-call-card.tsx';
import type { GuideCall } from './guide-calls.ts';
import styles from './guide-text.module.css';

/** The text of a document. Its calls are cards in the reader's language, and its samples have the reader's address and credentials. */
export function GuideHtml({ html }: { html: string }) {
  const showToast = useToast();
  const { service } = useSession();
  const [credentials] = useCredentials();

  function click(event: MouseEvent): void {
    const target = event.target as Element;
    const code = target.closest('[data-copy]')?.closest('figure')?.querySelector('pre')?.textContent;
    if (code) void copy(code);
  }

  async function copy(code: string): Promise<void> {
    try {
      await navigator.clipboard.writeText(code);
      showToast(words.copied);
    } catch {
      showToast(words.copyBlocked);
    }
  }

  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the buttons inside are buttons; their clicks arrive here.
    // biome-ignore lint/a11y/useKeyWithClickEvents: a button makes a click of the Enter key.
    <div className={styles.text} onClick={click}>
      {piecesOf(html).map((piece, index) =>
        typeof piece === 'string' ? (
          <div
            // biome-ignore lint/suspicious/noArrayIndexKey: a piece is identified by its index.
            key={index}
            className={styles.piece}
            // biome-ignore lint/security/noDangerouslySetInnerHtml: our build renders it from our documents and escapes HTML.
            dangerouslySetInnerHTML={{ __html: fillIn(piece, service.base_url, credentials) }}
          />
        ) : (
          // biome-ignore lint/suspicious/noArrayIndexKey: a piece is identified by its index.
          <GuideCallCard key={index} call={piece} />
        ),
      )}
    </div>
  );
}

/** The build writes each call as a comment. */
function piecesOf(html: string): (string | GuideCall)[] {
  return html
    .split(/<!--call (\S+)-->\n?/)
    .map((piece, index) => (index % 2 === 0 ? piece : (JSON.parse(decodeURIComponent(piece)) as GuideCall)))
    .filter((piece) => piece !== '');
}
