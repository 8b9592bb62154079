// Every page of the reference, rendered as a browser would show it, but without one.
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { readErrors } from '../portal/build/errors.ts';
import { guideDocuments } from '../portal/build/guide-documents.ts';
import { portalTarget, readGuide } from '../portal/build/guides.ts';
import type { OpenApi } from '../portal/src/docs/model/openapi.ts';
import { createUnconnectedApp } from '../scripts/unconnected-app.ts';
import { createOpenApi } from '../src/http/openapi/document.ts';
import { makeFolder } from './support/process.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const folder = makeFolder('reference-pages');

const program = `
import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { Router } from 'wouter';
import { MantineProvider } from '@mantine/core';
import { ToastProvider } from '${root}portal/src/parts/notice/toast.tsx';
import { apisOf } from '${root}portal/src/docs/model/operations.ts';
import { AnswerCard } from '${root}portal/src/docs/operation/answer-card.tsx';
import { OperationSections } from '${root}portal/src/docs/operation/operation-sections.tsx';

const show = () => {};
export function renderAll(document) {
  return apisOf(document).flatMap(({ operations }) => operations).map((operation) => {
    const sections = createElement(OperationSections, { operation, show });
    const cards = operation.answers.map(({ status }) =>
      createElement(AnswerCard, { key: status, operation, shown: { status, code: undefined }, show }));
    const page = createElement(ToastProvider, null, sections, cards);
    const html = renderToStaticMarkup(
      createElement(MantineProvider, null, createElement(Router, { ssrPath: '/docs' }, page)));
    return { id: operation.id, html };
  });
}
`;

/** The whole document: the APIs, the portal and the operators. */
function readDocument(): OpenApi {
  const publicUrl = 'http://127.0.0.1:8080';
  const about = { publicUrl, version: '0', tokenUrl: `${publicUrl}/token`, sessionCookie: 'session' };
  return JSON.parse(JSON.stringify(createOpenApi(createUnconnectedApp().routes, about))) as OpenApi;
}

const document = readDocument();
let renderAll: (document: OpenApi) => { id: string; html: string }[];
before(async () => {
  const outfile = join(folder, 'pages.cjs');
  await build({
    stdin: { contents: program, resolveDir: join(root, 'portal'), loader: 'tsx' },
    outfile,
    format: 'cjs',
    platform: 'node',
    target: 'node20',
    jsx: 'automatic',
    bundle: true,
    // React as in the browser: its form for developers takes ten times as long.
    define: { 'process.env.NODE_ENV': '"production"' },
    logLevel: 'warning',
    plugins: [
      {
        name: 'no-styles',
        setup({ onLoad }) {
          const contents = 'export default new Proxy({}, { get: (_, name) => String(name) });';
          onLoad({ filter: /\.css$/ }, () => ({ contents, loader: 'js' }));
        },
      },
    ],
  });
  ({ renderAll } = await import(pathToFileURL(outfile).href));
});
after(() => rmSync(folder, { recursive: true, force: true }));

/** What a reader reads, without samples: these may be HTML. */
function textOf(html: string): string {
  const prose = html.replaceAll(/<pre[\s\S]*?<\/pre>/g, ' ').replaceAll(/<[^>]*>/g, ' ');
  const entities: [string, string][] = [
    ['&lt;', '<'],
    ['&gt;', '>'],
    ['&quot;', '"'],
    ['&amp;', '&'],
  ];
  return entities.reduce((text, [entity, character]) => text.replaceAll(entity, character), prose);
}

const markup = /<>|<\/|\{' '\}/;

test('no page of the reference shows markup, and each has its sections', () => {
  const pages = renderAll(document);
  assert.ok(pages.length > 30, `${pages.length} pages`);
  const wrong = pages.filter(({ html }) => markup.test(textOf(html))).map(({ id }) => id);
  assert.deepEqual(wrong, []);
  const sendSms = textOf(pages.find(({ id }) => id === 'sendSms')?.html ?? '');
  assert.match(sendSms, /Send\s+an API key in the header\s+apikey/);
  for (const status of ['scheduled', 'queued', 'delivered', 'undelivered'])
    assert.match(sendSms, new RegExp(`\\b${status}\\b`), 'the values of status are listed');
  assert.doesNotMatch(sendSms, /RATE_LIMITED/, 'a 429 has no code');
  const check = textOf(pages.find(({ id }) => id === 'checkVerification')?.html ?? '');
  for (const reason of ['incorrect_code', 'max_attempts_reached', 'ttl_elapsed'])
    assert.match(check, new RegExp(`\\b${reason}\\b`), 'the values of reason are listed');
});

test('no guide and no page of an error shows markup', () => {
  const texts = [
    ...guideDocuments.map((document) => ({ name: document.slug, html: readGuide(document).html })),
    ...readErrors(portalTarget).map(({ name, html }) => ({ name, html })),
  ];
  for (const { name, html } of texts) assert.doesNotMatch(textOf(html), /<>|<\/[A-Za-z]+>/, name);
});

test('every example has times in an order that makes sense', () => {
  const wrong: string[] = [];
  const check = (value: unknown, where: string): void => {
    if (typeof value !== 'object' || value === null) return;
    const times = Object.entries(value).filter(([name, time]) => name.endsWith('_at') && typeof time === 'string');
    const created = times.find(([name]) => name === 'created_at')?.[1] as string | undefined;
    for (const [name, time] of times)
      if (created !== undefined && Date.parse(time as string) < Date.parse(created)) wrong.push(`${where}.${name}`);
    const { sent_at: sent, delivered_at: delivered } = value as Record<string, string | null | undefined>;
    if (delivered && !(sent && sent <= delivered)) wrong.push(`${where}.delivered_at`);
    for (const [name, each] of Object.entries(value)) check(each, `${where}.${name}`);
  };
  for (const [path, methods] of Object.entries(document.paths))
    for (const [method, operation] of Object.entries(methods)) check(operation, `${method} ${path}`);
  assert.deepEqual(wrong, []);
});
