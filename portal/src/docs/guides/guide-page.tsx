import { type GuideText, guideTexts } from 'virtual:guides';
import { use, useEffect } from 'react';
import { EmptyState } from '../../parts/notice/empty-state.tsx';
import { PageTitle } from '../../parts/page-title.tsx';
import { words } from '../../words/docs.tsx';
import { Neighbours } from '../neighbours.tsx';
import { GuideHtml } from './guide-html.tsx';
import { type GuideEntry, guides } from './guide-list.ts';
import styles from './guide-page.module.css';

/** A guide at /docs/guides/{slug}. The frame around it shows a placeholder until the text is loaded. */
export default function GuidePage({ slug }: { slug: string }) {
  const index = guides.findIndex((guide) => guide.slug === slug);
  const guide = guides[index];
  if (guide === undefined) return <UnknownGuide />;
  return (
    <div className={styles.page}>
      <div className={styles.columns} key={slug}>
        <Article guide={guide} text={use(textOf(slug))} />
        <OnThisPage guide={guide} />
        <Neighbours previous={neighbour(guides[index - 1])} next={neighbour(guides[index + 1])} />
      </div>
    </div>
  );
}

const texts = new Map<string, Promise<GuideText>>();

/** The text of a guide, fetched once. After a failure the next visit tries again. */
function textOf(slug: string): Promise<GuideText> {
  const known = texts.get(slug);
  if (known !== undefined) return known;
  const load = guideTexts[slug] ?? (() => Promise.reject(new Error(`There is no guide ${slug}.`)));
  const text = load().then((module) => module.default);
  texts.set(slug, text);
  text.catch(() => texts.delete(slug));
  return text;
}

function Article({ guide, text }: { guide: GuideEntry; text: GuideText }) {
  // The browser tried to scroll to the section before the text was loaded.
  useEffect(() => {
    document.getElementById(location.hash.slice(1))?.scrollIntoView();
  }, []);
  return (
    <article className={styles.article}>
      <PageTitle documentTitle={guide.title}>{text.heading}</PageTitle>
      <GuideHtml html={text.html} />
    </article>
  );
}

function OnThisPage({ guide: { headings } }: { guide: GuideEntry }) {
  if (headings.length < 2) return null;
  return (
    <nav className={styles.contents} aria-label={words.guide.onThisPage}>
      <h2>{words.guide.onThisPage}</h2>
      <ul>
        {headings.map(({ id, text }) => (
          <li key={id}>
            <a href={`#${id}`}>{text}</a>
          </li>
        ))}
      </ul>
    </nav>
  );
}

function neighbour(guide: GuideEntry | undefined): { href: string; title: string } | undefined {
  return guide && { href: `/docs/guides/${guide.slug}`, title: guide.title };
}

function UnknownGuide() {
  return (
    <>
      <PageTitle>{words.guide.notFound}</PageTitle>
      <EmptyState title={words.guide.notFoundWhy}>{words.guide.notFoundNext}</EmptyState>
    </>
  );
}
