import { readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Plugin } from 'vite';
import { type GuideDocument, guideDocuments } from './guide-documents.ts';
import { type GuideText, renderGuide } from './markdown.ts';

const repository = fileURLToPath(new URL('../../', import.meta.url));
const listModule = 'virtual:guides';
const guideModule = `${listModule}/`;

/** Makes pages of the Markdown documents: a small module with the list, and a chunk for each guide. */
export const guides: Plugin = {
  name: 'guides',
  resolveId: (id) => (id === listModule || id.startsWith(guideModule) ? `\0${id}` : undefined),
  load(id) {
    if (id === `\0${listModule}`) return listCode();
    if (!id.startsWith(`\0${guideModule}`)) return undefined;
    const document = guideDocuments.find(({ slug }) => id === `\0${guideModule}${slug}`);
    if (document === undefined) throw new Error(`There is no guide for ${id}.`);
    this.addWatchFile(repository + document.file);
    const { heading, html } = readGuide(document);
    return `export default ${JSON.stringify({ heading, html })};`;
  },
  /** The service answers 404 for a guide that is not in this list. */
  generateBundle() {
    const source = JSON.stringify(guideDocuments.map(({ slug }) => slug));
    this.emitFile({ type: 'asset', fileName: 'guides.json', source });
  },
};

/** The list has no page text, so that it is light; the browser fetches a guide when it is opened. */
function listCode(): string {
  const list = guideDocuments.map((document) => {
    const { slug, title, summary } = document;
    return { slug, title, summary, headings: readGuide(document).headings };
  });
  const loaders = guideDocuments.map(({ slug }) => `${JSON.stringify(slug)}: () => import('${guideModule}${slug}')`);
  return `export const guides = ${JSON.stringify(list)};\nexport const guideTexts = {${loaders.join(',\n')}};`;
}

export function readGuide(document: GuideDocument): GuideText {
  return renderGuide(readFileSync(repository + document.file, 'utf8'), (href) => portalTarget(document.file, href));
}

/** Where a link of a document leads in the portal. Files of the repository that are no guide have no page there. */
export function portalTarget(file: string, href: string): string | undefined {
  if (/^(https?:\/\/|#|\/docs\b|\/#\/)/.test(href)) return href;
  if (/^[a-z]+:/i.test(href) || href.startsWith('/')) return undefined;
  const [path = '', section] = href.split('#');
  const linked = posix.normalize(posix.join(posix.dirname(file), path));
  const guide = guideDocuments.find((document) => document.file === linked);
  if (guide === undefined) return undefined;
  return `/docs/guides/${guide.slug}${section === undefined ? '' : `#${section}`}`;
}
