import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { renderGuide } from './markdown.ts';

const repository = fileURLToPath(new URL('../../', import.meta.url));
export const errorsFile = 'docs/errors.md';
export const errorModule = 'virtual:errors';

/** A section of docs/errors.md, shown at /docs/errors/{name}. */
export interface ErrorText {
  /** The code, or `429`, which has none. */
  name: string;
  status: string;
  /** What it means, in one paragraph of Markdown. */
  summary: string;
  html: string;
}

type TargetOf = (file: string, href: string) => string | undefined;

export function readErrors(targetOf: TargetOf): ErrorText[] {
  const [, ...sections] = readFileSync(repository + errorsFile, 'utf8').split(/^## /m);
  return sections.map((section) => {
    const [, name, status, summary, rest] =
      /^(\S+)\n\nStatus (\d{3})[^.]*\. ([\s\S]+?)\n\n([\s\S]*)$/.exec(section) ?? [];
    if (name === undefined || status === undefined || summary === undefined || rest === undefined)
      throw new Error(`A section of ${errorsFile} has no name or no status: ${section.slice(0, 40)}`);
    const { html } = renderGuide(rest, (href) => targetOf(errorsFile, href));
    return { name, status, summary: summary.replaceAll(/\s+/g, ' '), html };
  });
}

/** One module for all: they are small, and a reader of one often reads another. */
export function errorCode(targetOf: TargetOf): string {
  return `export default ${JSON.stringify(readErrors(targetOf))};`;
}
