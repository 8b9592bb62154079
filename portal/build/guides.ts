import { readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Plugin } from 'vite';
import { errorCode, errorModule, errorsFile, readErrors } from './errors.ts';
import { type GuideDocument, guideDocuments } from './guide-documents.ts';
import { type GuideText, renderGuide } from './markdown.ts';

const repository = fileURLToPath(new URL('../../', import.meta.url));
const listModule = 'virtual:guides';
const guideModule = `${listModule}/`;
/** What the search reads besides titles, loaded when the search is opened. */
const searchModule = 'virtual:guide-search';
const ownModules = [listModule, searchModule, errorModule];

/** Turns the Markdown documents into pages: a small module with the list, and a chunk for each guide. */
export const guides: Plugin = {
  name: 'guides',
  resolveId: (id) => (ownModules.includes(id) || id.startsWith(guideModule) ? `\0${id}` : undefined),
  load(id) {
    if (id === `\0${listModule}`) return listCode();
    if (id === `\0${searchModule}`) return searchCode();
    if (id === `\0${errorModule}`) return errorCode((file, href) => portalTarget(file, href));
    if (!id.startsWith(`\0${guideModule}`)) return undefined;
    const document = guideDocuments.find(({ slug }) => id === `\0${guideModule}${slug}`);
    if (document === undefined) throw new Error(`There is no guide for ${id}.`);
    this.addWatchFile(repository + document.file);
    const { heading, html } = readGuide(document);
    return `export default ${JSON.stringify({ heading, html })};`;
  },
  /** The service answers 404 for a guide or an error that is not in these lists. */
  generateBundle() {
    const source = JSON.stringify(guideDocuments.map(({ slug }) => slug));
    this.emitFile({ type: 'asset', fileName: 'guides.json', source });
    const names = JSON.stringify(readErrors((file, href) => portalTarget(file, href)).map(({ name }) => name));
    this.emitFile({ type: 'asset', fileName: 'errors.json', source: names });
  },
};

/** The list contains no page text, to keep it small; the browser fetches a guide when the reader opens it. */
function listCode(): string {
  const list = guideDocuments.map((document) => {
    const { slug, title, summary } = document;
    return { slug, title, summary, headings: readGuide(document).headings };
  });
  const loaders = guideDocuments.map(({ slug }) => `${JSON.stringify(slug)}: () => import('${guideModule}${slug}')`);
  return `export const guides = ${JSON.stringify(list)};\nexport const guideTexts = {${loaders.join(',\n')}};`;
}

function searchCode(): string {
  const texts = guideDocuments.map((document) => [document.slug, readGuide(document).sections]);
  return `export default ${JSON.stringify(Object.fromEntries(texts))};`;
}

export function readGuide(document: GuideDocument): GuideText {
  return renderGuide(readFileSync(repository + document.file, 'utf8'), (href) => portalTarget(document.file, href));
}

/** The portal's address of a linked document. Files that are not guides have no page there. */
export function portalTarget(file: string, href: string): string | undefined {
  if (/^(https?:\/\/|#|\/docs\b|\/#\/)/.test(href)) return href;
  if (/^[a-z]+:/i.test(href) || href.startsWith('/')) return undefined;
  const [path = '', section] = href.split('#');
  const linked = posix.normalize(posix.join(posix.dirname(file), path));
  if (linked === errorsFile) return `/docs/errors${section === undefined ? '' : `/${section.toUpperCase()}`}`;
  const guide = guideDocuments.find((document) => document.file === linked);
  if (guide === undefined) return undefined;
  return `/docs/guides/${guide.slug}${section === undefined ? '' : `#${section}`}`;
}
