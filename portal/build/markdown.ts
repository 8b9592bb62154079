import { marked, Renderer, type Token, type Tokens } from 'marked';
import { readCall } from '../src/docs/guides/guide-calls.ts';
import { highlight } from '../src/docs/highlight.ts';

export interface GuideHeading {
  id: string;
  text: string;
}

export interface GuideText {
  /** The heading of the document. */
  heading: string;
  /** Each call stands in it as a comment (`callMark`). */
  html: string;
  /** The sections, for "On this page" and for the search. */
  headings: GuideHeading[];
  /** What the sections say, without code, for the search. `id` is empty for the text before the first section. */
  sections: { id: string; text: string }[];
}

/** The portal's address of a linked document; undefined if the portal has no such page. */
export type LinkTarget = (href: string) => string | undefined;

/** Renders a Markdown document. HTML in the document is escaped, never passed through. */
export function renderGuide(markdown: string, targetOf: LinkTarget): GuideText {
  const renderer = new GuideRenderer(targetOf);
  const html = marked
    .lexer(markdown, { gfm: true })
    .map((token) => markOf(token) ?? marked.parser([token], { renderer }))
    .join('');
  return { heading: renderer.heading1, html, headings: renderer.sections, sections: sectionsOf(html) };
}

/** Only outside of lists: the page cuts the HTML here. */
function markOf(token: Token): string | undefined {
  const call = token.type === 'code' && token.lang?.startsWith('sh') ? readCall(token.text) : undefined;
  return call && `<!--call ${encodeURIComponent(JSON.stringify(call))}-->\n`;
}

function sectionsOf(html: string): GuideText['sections'] {
  const prose = html.replaceAll(/<figure[\s\S]*?<\/figure>|<!--[\s\S]*?-->|<a [^>]*data-anchor[\s\S]*?<\/a>/g, ' ');
  return prose.split(/(?=<h2 )/).map((section) => ({
    id: /^<h2 id="([^"]*)"/.exec(section)?.[1] ?? '',
    text: plainText(section.replaceAll('<wbr>', '').replaceAll(/<\/(?:p|li|td|th|h\d)>/g, ' '))
      .replaceAll(/\s+/g, ' ')
      .trim(),
  }));
}

/** A quote that begins with one of these in brackets is a note, as on GitHub. */
const notes: Record<string, { title: string; tone: string }> = {
  NOTE: { title: 'Note', tone: 'calm' },
  TIP: { title: 'Tip', tone: 'calm' },
  WARNING: { title: 'Careful', tone: 'wait' },
};

/** Languages of highlighted code blocks, and their names in the reference. */
const highlighted: Record<string, string> = {
  ts: 'ts',
  js: 'ts',
  sh: 'curl',
  python: 'python',
  php: 'php',
  json: 'json',
};

/** The display names of languages. */
const labels: Record<string, string> = { console: 'terminal', text: 'text' };

class GuideRenderer extends Renderer {
  heading1 = '';
  sections: GuideHeading[] = [];
  readonly #targetOf: LinkTarget;
  readonly #idOf = createIds();

  constructor(targetOf: LinkTarget) {
    super();
    this.#targetOf = targetOf;
  }

  override heading({ depth, tokens }: Tokens.Heading): string {
    const html = this.parser.parseInline(tokens);
    const text = plainText(html);
    const id = this.#idOf(text);
    if (depth === 1) {
      this.heading1 ||= text;
      return '';
    }
    if (depth === 2) this.sections.push({ id, text });
    const link = `<a href="#${id}" data-anchor aria-label="Link to “${escapeHtml(text)}”">#</a>`;
    return `<h${depth} id="${id}" tabindex="-1">${html}${link}</h${depth}>\n`;
  }

  /** "ts send.ts" after the fence: the language, and the name of the sample. */
  override code({ text, lang = '' }: Tokens.Code): string {
    const [language = '', name = ''] = lang.split(/\s+/);
    const pieces = highlighted[language] === undefined ? escapeHtml(text) : colour(text, highlighted[language]);
    const label = name || 'the code';
    const bar = `<figcaption><span>${escapeHtml(name || labels[language] || language)}</span><button type="button" data-copy aria-label="Copy ${escapeHtml(label)}">Copy</button></figcaption>`;
    return `<figure data-code>${bar}<pre tabindex="0"><code>${pieces}</code></pre></figure>\n`;
  }

  /** A table scrolls on its own, by keyboard too. An empty head row is left out. */
  override table(token: Tokens.Table): string {
    const table = super.table(token);
    const isBare = token.header.every(({ text }) => text === '');
    const shown = isBare ? table.replace(/<thead>[\s\S]*?<\/thead>\n?/, '') : table;
    return `<div data-table tabindex="0" role="group" aria-label="Table">${shown}</div>\n`;
  }

  override blockquote({ tokens }: Tokens.Blockquote): string {
    const html = this.parser.parse(tokens);
    const note = notes[/^<p>\[!(\w+)\]/.exec(html)?.[1] ?? ''];
    if (note === undefined) return `<blockquote>${html}</blockquote>\n`;
    const body = html.replace(/^<p>\[!\w+\]\s*/, `<p><strong>${note.title}.</strong> `);
    return `<div data-note="${note.tone}" role="note">${body}</div>\n`;
  }

  override link({ href, tokens }: Tokens.Link): string {
    const html = this.parser.parseInline(tokens);
    const target = this.#targetOf(href);
    return target === undefined ? html : `<a href="${escapeHtml(target)}">${html}</a>`;
  }

  override html({ text }: Tokens.HTML | Tokens.Tag): string {
    return text.trimStart().startsWith('<!--') ? '' : escapeHtml(text);
  }

  /** A long name may break only after its parts. */
  override codespan({ text }: Tokens.Codespan): string {
    const code = escapeHtml(text);
    return `<code>${text.length > 20 ? code.replaceAll(/[_/{](?=.)/g, '$&<wbr>') : code}</code>`;
  }

  override image({ text }: Tokens.Image): string {
    return escapeHtml(text);
  }
}

function colour(code: string, language: string): string {
  const pieces = highlight(code, language).map(({ kind, text }) => {
    return kind === 'text' ? escapeHtml(text) : `<span data-kind="${kind}">${escapeHtml(text)}</span>`;
  });
  return pieces.join('');
}

/** Ids as GitHub makes them, so that a link to a section works in both places; a repeated one gets a number. */
function createIds(): (text: string) => string {
  const seen = new Map<string, number>();
  return (text) => {
    const words = text.toLowerCase().replaceAll(/[^a-z0-9 _-]/g, '');
    const id = words.replaceAll(' ', '-') || 'section';
    const count = seen.get(id) ?? 0;
    seen.set(id, count + 1);
    return count === 0 ? id : `${id}-${count}`;
  };
}

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => entities[character] ?? '');
}

function plainText(html: string): string {
  let text = html.replaceAll(/<[^>]*>/g, '');
  for (const [character, entity] of Object.entries(entities).reverse()) text = text.replaceAll(entity, character);
  return text;
}
