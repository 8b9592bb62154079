import { useMemo, useState } from 'react';
import { words } from '../../words/docs.tsx';
import { Code } from '../code.tsx';
import { type Language, languages } from '../samples/languages.ts';
import type { SampleRequest } from '../samples/request.ts';
import { TabRow } from '../tab-row.tsx';
import styles from './card.module.css';

const storageKey = 'heliograph-language';

function rememberedLanguage(): Language {
  const stored = localStorage.getItem(storageKey);
  return languages.find(({ name }) => name === stored)?.name ?? 'typescript';
}

/** The request in the reader's language. The choice is remembered. */
export function SampleCard({ request }: { request: SampleRequest | undefined }) {
  const [language, setLanguage] = useState<Language>(rememberedLanguage);
  const { title, sample } = languages.find(({ name }) => name === language) ??
    languages[0] ?? { title: '', sample: () => '' };
  const text = useMemo(() => (request === undefined ? '' : sample(request)), [request, sample]);

  function choose(next: Language): void {
    localStorage.setItem(storageKey, next);
    setLanguage(next);
  }

  return (
    // Not a landmark: a guide has several cards with this label.
    <figure className={styles.card} aria-label={words.sample.title}>
      <TabRow label={words.sample.language} tabs={languages} chosen={language} choose={choose}>
        {request === undefined ? (
          <p className={styles.note}>{words.sample.notJson}</p>
        ) : (
          <Code text={text} language={language} what={words.sample.copy(title)} />
        )}
      </TabRow>
    </figure>
  );
}
