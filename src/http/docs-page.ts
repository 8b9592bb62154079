import { createHash } from 'node:crypto';
import { schemaKeyword } from './field-problems.ts';
import { refusalsOf } from './openapi/refusals.ts';
import type { Answer, Auth, Reply, Route } from './route.ts';

const style = `
:root { color-scheme: light dark; --line: #8884; --soft: #8881; --accent: #0b6; }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 62rem; padding: 1.5rem; font: 16px/1.55 system-ui, sans-serif; }
h1 { margin: 0; } h2 { margin: 3rem 0 1rem; border-bottom: 2px solid var(--line); padding-bottom: .3rem; }
nav a { margin-right: 1rem; } a { color: inherit; }
details { border: 1px solid var(--line); border-radius: .5rem; margin: .6rem 0; padding: .6rem .9rem; }
summary { cursor: pointer; overflow-wrap: anywhere; }
code, pre { font: 14px/1.5 ui-monospace, monospace; } pre { background: var(--soft); padding: .8rem; overflow-x: auto; border-radius: .4rem; }
.method { display: inline-block; min-width: 4.2rem; font-weight: 700; color: var(--accent); }
table { border-collapse: collapse; width: 100%; margin: .6rem 0; } th, td { text-align: left; padding: .3rem .6rem .3rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
.soft { opacity: .75; }
`;

const contentSecurityPolicy = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** The reference as a page, made from the routes. It has no script and loads nothing. */
export function createDocsPage(routes: Route[], options: { publicUrl: string; version: string }): Reply {
  const tags = [...new Set(routes.map(({ tag }) => tag))];
  const data = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>Heliograph reference</title><style>${style}</style></head>
<body>
<header><h1>Heliograph</h1>
<p>Number verification and SMS messaging, version ${escapeHtml(options.version)}. Base address <code>${escapeHtml(options.publicUrl)}</code>.
The same reference as <a href="/openapi.json">OpenAPI 3.1</a>.</p>
<nav aria-label="Sections">${tags.map((tag) => `<a href="#${anchor(tag)}">${escapeHtml(tag)}</a>`).join('')}</nav>
<p>Every response carries <code>X-Correlation-ID</code>, <code>RateLimit-Limit</code>, <code>RateLimit-Remaining</code> and
<code>RateLimit-Reset</code>. Errors are <code>{"message", "code", "correlation_id", "details"}</code>; a 429 has only
<code>message</code>, and <code>Retry-After</code> says how many seconds to wait.</p></header>
<main>${tags
    .map((tag) =>
      sectionOf(
        tag,
        routes.filter((route) => route.tag === tag),
      ),
    )
    .join('')}</main>
</body></html>`;
  const headers = { 'Content-Security-Policy': contentSecurityPolicy, 'Cache-Control': 'no-cache' };
  return { status: 200, content: { type: 'text/html; charset=utf-8', data, headers } };
}

function sectionOf(tag: string, routes: Route[]): string {
  return `<section id="${anchor(tag)}"><h2>${escapeHtml(tag)}</h2>${routes.map(entryOf).join('')}</section>`;
}

function entryOf(route: Route): string {
  return `<details><summary><span class="method">${route.method}</span><code>${escapeHtml(route.path)}</code> <span class="soft">${escapeHtml(route.summary)}</span></summary>
${route.description === undefined ? '' : `<p>${escapeHtml(route.description)}</p>`}
<p class="soft">${escapeHtml([route.auth].flat().map(credentialOf).join(', or '))}</p>
${fieldsOf('In the path', route.params)}${fieldsOf('In the query', route.query)}${fieldsOf('In the body', route.body)}
<table><caption>Responses</caption><tbody>${Object.entries(route.answers).map(answerOf).join('')}${refusalRows(route)}</tbody></table></details>`;
}

function answerOf([status, answer]: [string, Answer]): string {
  const fields = propertiesOf(answer.schema)
    .map(([name]) => name)
    .join(', ');
  const shape = fields === '' ? escapeHtml(answer.type ?? '') : `<code>${escapeHtml(fields)}</code>`;
  return `<tr><th scope="row">${status}</th><td>${escapeHtml(answer.description)}</td><td>${shape}</td></tr>`;
}

function refusalRows(route: Route): string {
  const refusals = [...refusalsOf(route)].filter(([status]) => !(status in route.answers));
  const rows = refusals.map(([status, each]) => {
    const codes = each.map(({ code, when }) => `<code>${code}</code> ${escapeHtml(when)}`).join('<br>');
    return `<tr><th scope="row">${status}</th><td>${codes}</td><td></td></tr>`;
  });
  return rows.join('');
}

function fieldsOf(caption: string, schema: unknown): string {
  const properties = propertiesOf(schema);
  if (properties.length === 0) return '';
  const required = new Set((schema as { required?: string[] }).required ?? []);
  // A field with a default can be left out.
  for (const [name, { default: otherwise }] of properties) if (otherwise !== undefined) required.delete(name);
  const rows = properties.map(
    ([name, property]) =>
      `<tr><th scope="row"><code>${escapeHtml(name)}</code></th><td>${required.has(name) ? 'required' : 'optional'}</td><td>${escapeHtml(describe(property))}</td></tr>`,
  );
  return `<table><caption>${caption}</caption><tbody>${rows.join('')}</tbody></table>`;
}

function propertiesOf(schema: unknown): [string, Record<string, unknown>][] {
  return Object.entries(
    (schema as { properties?: Record<string, Record<string, unknown>> } | undefined)?.properties ?? {},
  );
}

function describe(property: Record<string, unknown>): string {
  const text = property[schemaKeyword] ?? property.description;
  return typeof text === 'string' ? text : String(property.type ?? '');
}

function credentialOf(auth: Auth): string {
  switch (auth.kind) {
    case 'none':
    case 'visitor':
      return 'No credential';
    case 'apikey':
      return 'Header apikey: your API key';
    case 'bearer':
      return `Header Authorization: Bearer <token>${auth.scope === undefined ? '' : ` with scope ${auth.scope}`}`;
    case 'developer':
      return 'Portal session';
    case 'operator':
      return 'Portal session of an operator';
    case 'client':
      return 'Client id and secret in the form, or HTTP Basic';
    case 'metrics':
      return 'From this machine, or with the metrics token';
    case 'callback':
      return 'The token in the path, and the proof that the provider gives';
  }
}

function anchor(tag: string): string {
  return tag.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');
}

function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}
