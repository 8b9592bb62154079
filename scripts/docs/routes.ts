import { existsSync, readFileSync } from 'node:fs';
import { Session } from 'node:inspector';
import { fileURLToPath } from 'node:url';
import type { Auth, Route } from '../../src/http/route.ts';
import { createUnconnectedApp } from '../unconnected-app.ts';

const root = new URL('../../', import.meta.url);
/** Only a node with a built portal has these. */
const ofBuiltPortal = ['getPortalIcon', 'getPortalAsset'];

const head = `# Routes

Every route of the service, in the order of \`src/routes.ts\`: who may call it, its file below \`src/\`, and its tests below
\`test/\`, which the first line of that file names. \`npm run docs\` writes this document.

| Route | Auth | File | Tests |
|---|---|---|---|
`;

/** docs/routes.md, from the routes of an app. */
export function routesDocument(): string {
  const routes = createUnconnectedApp().routes.filter(({ operationId = '' }) => !ofBuiltPortal.includes(operationId));
  const files = filesOf(routes);
  const rows = routes.map(({ method, path, auth }, index) => {
    const file = files[index] ?? '';
    const tests = testsOf(file).map((name) => name.replace(/^test\/(.*)\.test\.ts$/, '$1'));
    return `| \`${method} ${path}\` | ${nameAuth(auth)} | ${file.slice('src/'.length)} | ${tests.join(', ')} |\n`;
  });
  return head + rows.join('');
}

function nameAuth(auth: Auth | Auth[]): string {
  if (Array.isArray(auth)) return auth.map(nameAuth).join(' or ');
  if (auth.kind === 'bearer') return `bearer \`${auth.scope ?? 'any scope'}\``;
  return auth.kind === 'developer' && auth.role !== undefined ? `developer (${auth.role})` : auth.kind;
}

/** The file in which each route's handler is written, below the project's folder. Node's inspector knows it. */
function filesOf(routes: Route[]): string[] {
  const urls = new Map<string, string>();
  const session = new Session();
  session.connect();
  session.on('Debugger.scriptParsed', ({ params }) => urls.set(params.scriptId, params.url));
  session.post('Debugger.enable');
  Object.assign(globalThis, { handlers: routes.map(({ handler }) => handler) });
  return routes.map((_, index) => {
    let scriptId = '';
    session.post('Runtime.evaluate', { expression: `handlers[${index}]` }, (_, { result }) => {
      session.post('Runtime.getProperties', { objectId: result.objectId ?? '' }, (_, { internalProperties }) => {
        const location = internalProperties?.find(({ name }) => name === '[[FunctionLocation]]');
        scriptId = location?.value?.value.scriptId;
      });
    });
    return fileURLToPath(urls.get(scriptId) ?? '').slice(fileURLToPath(root).length);
  });
}

/** The files that the first line of a source file names. */
function testsOf(file: string): string[] {
  const names = /^\/\/ Tests: (.*)\n/.exec(readFileSync(new URL(file, root), 'utf8'))?.[1]?.split(', ') ?? [];
  const missing = names.filter((name) => !existsSync(new URL(name, root)));
  if (names.length === 0) throw new Error(`${file} must begin with // Tests: test/contract/….test.ts`);
  if (missing.length > 0) throw new Error(`${file} names tests that do not exist: ${missing.join(', ')}`);
  return names;
}
