// Tests: test/socket/pages-api.test.ts
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { Type } from 'typebox';
import { notFound } from '../platform/errors.ts';
import { pathParameter } from './list-page.ts';
import { type Reply, type Route, route } from './route.ts';

const types: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
};
/** Already compressed formats: send them as they are. */
const dense = new Set(['.woff2']);

/** Scripts: only our own files. Styles: inline too, because charts and components style their elements. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ');

const htmlExample = '<!doctype html><html lang="en"><title>Heliograph</title></html>';

const shared = { method: 'GET', auth: { kind: 'none' }, tag: 'Operations' } as const;

/**
 * The portal's files, read once. If they were not built by this version, its pages redirect to the OpenAPI document. `isOperation` says
 * whether the reference has a page for an operation.
 */
export function createPageRoutes(folder: string, isOperation: (id: string) => boolean): Route[] {
  if (!['index.html', 'guides.json', 'errors.json'].every((file) => existsSync(join(folder, file)))) {
    return pageRoutes({
      answers: { 302: { description: 'To /openapi.json', headers: ['Location'] } },
      show: () => ({ status: 302, location: '/openapi.json' }),
    });
  }
  const page = readPage(join(folder, 'index.html'), {
    'Cache-Control': 'no-cache',
    'Content-Security-Policy': contentSecurityPolicy,
  });
  const icon = readPage(join(folder, 'favicon.svg'), { 'Cache-Control': 'public, max-age=86400' });
  const namesIn = (file: string) => new Set<unknown>(JSON.parse(readFileSync(join(folder, file), 'utf8')));
  const guides = namesIn('guides.json');
  const errors = namesIn('errors.json');
  // Asset names change with their content, so a browser may cache them forever.
  const lasting = { 'Cache-Control': 'public, max-age=31536000, immutable' };
  const assets = new Map(
    readdirSync(join(folder, 'assets'))
      .filter((name) => !name.endsWith('.gz'))
      .map((name) => [name, readPage(join(folder, 'assets', name), lasting)]),
  );
  return [
    ...pageRoutes({
      answers: { 200: { description: 'The page', type: 'text/html', example: htmlExample } },
      show: ({ operation, guide, error }) => {
        const isMissing =
          (operation !== undefined && !isOperation(operation)) ||
          (guide !== undefined && !guides.has(guide)) ||
          (error !== undefined && !errors.has(error));
        if (isMissing) throw notFound();
        return page;
      },
    }),
    route({
      ...shared,
      path: '/favicon.svg',
      operationId: 'getPortalIcon',
      summary: 'The icon of the portal',
      answers: {
        200: { description: 'The icon', type: 'image/svg+xml', example: '<svg xmlns="http://www.w3.org/2000/svg"/>' },
      },
      handler: () => icon,
    }),
    route({
      ...shared,
      path: '/assets/{name}',
      operationId: 'getPortalAsset',
      summary: 'Scripts, styles and fonts of the portal',
      params: Type.Object({ name: pathParameter }),
      answers: { 200: { description: 'A script, a style or a font', type: '*/*', example: 'export {};' } },
      handler: (call) => {
        const asset = assets.get(call.params.name);
        if (asset === undefined) throw notFound();
        return asset;
      },
    }),
  ];
}

/** The parameters in the URL of a page. */
interface Shown {
  operation?: string;
  guide?: string;
  error?: string;
}

/** One page: its script shows the portal or the reference, by the address. */
function pageRoutes({ answers, show }: Pick<Route, 'answers'> & { show: (shown: Shown) => Reply }): Route[] {
  const plain = { ...shared, answers, handler: () => show({}) };
  return [
    route({ ...plain, path: '/', operationId: 'getPortalPage', summary: 'The developer portal' }),
    route({ ...plain, path: '/docs', slash: true, operationId: 'getReference', summary: 'This reference as pages' }),
    route({
      ...plain,
      path: '/docs/reference',
      slash: true,
      operationId: 'getReferenceSection',
      summary: 'All operations of the reference',
    }),
    route({
      ...shared,
      answers,
      path: '/docs/reference/{operation}',
      params: Type.Object({ operation: pathParameter }),
      operationId: 'getReferencePage',
      summary: 'One operation of the reference',
      handler: ({ params }) => show(params),
    }),
    route({
      ...shared,
      answers,
      path: '/docs/guides/{guide}',
      params: Type.Object({ guide: pathParameter }),
      operationId: 'getGuidePage',
      summary: 'One guide',
      handler: ({ params }) => show(params),
    }),
    route({ ...plain, path: '/docs/errors', slash: true, operationId: 'getErrorSection', summary: 'All errors' }),
    route({
      ...shared,
      answers,
      path: '/docs/errors/{error}',
      params: Type.Object({ error: pathParameter }),
      operationId: 'getErrorPage',
      summary: 'One error: what it means, and what to do',
      handler: ({ params }) => show(params),
    }),
  ];
}

function readPage(path: string, headers: Record<string, string>): Reply {
  const data = readFileSync(path);
  const extension = extname(path);
  const type = types[extension] ?? 'application/octet-stream';
  const gzip = dense.has(extension) ? {} : { gzip: compressedBeside(path) ?? gzipSync(data, { level: 9 }) };
  return { status: 200, content: { type, data, headers, ...gzip } };
}

/** The gzipped copy that the build has put beside a file, if any. */
function compressedBeside(path: string): Buffer | undefined {
  return existsSync(`${path}.gz`) ? readFileSync(`${path}.gz`) : undefined;
}
