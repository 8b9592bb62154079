// Compiles the client: `node scripts/compile-client.mjs <folder>` writes modules and their types. `--types-only` makes
// only the types that come from the OpenAPI document (sdk/src/openapi.ts).
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));
const typesFile = `${root}sdk/src/openapi.ts`;
const tool = `${root}tools/openapi/make-types.mjs`;

await makeTypes();
const [folder = 'sdk/dist'] = process.argv.slice(2);
if (folder !== '--types-only') await compile(folder);

/** The document changes far less often than the service's sources, and to make types of it takes two seconds. */
async function makeTypes() {
  const document = await readDocument();
  const stamp = createHash('sha256').update(document).update(readFileSync(tool)).digest('hex');
  const head = `// Made from the OpenAPI document by scripts/compile-client.mjs. ${stamp}\n`;
  if (existsSync(typesFile) && readFileSync(typesFile, 'utf8').startsWith(head)) return;
  const types = await run([tool], document);
  // Another build may read it now.
  const fresh = `${typesFile}.${process.pid}`;
  writeFileSync(fresh, head + types);
  renameSync(fresh, typesFile);
}

/** Bundled first: to load the service's sources one by one takes longer than all the rest. */
async function readDocument() {
  // Below the project's folder, so that packages are found; run.mjs removes what an interrupted build leaves.
  const folder = `${root}sdk/dist.${process.pid}`;
  try {
    const outfile = join(folder, 'openapi-document.mjs');
    await build({
      absWorkingDir: root,
      entryPoints: ['scripts/openapi-document.ts'],
      outfile,
      format: 'esm',
      platform: 'node',
      target: 'node20',
      bundle: true,
      packages: 'external',
      logLevel: 'warning',
    });
    return await run([outfile]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function compile(folder) {
  await run([`${root}node_modules/typescript/bin/tsc`, '-p', 'sdk', '--outDir', folder]);
  // The compiler leaves the names of sources in declarations, and older compilers of users do not find them.
  for (const name of readdirSync(root + folder).filter((each) => each.endsWith('.d.ts'))) {
    const file = join(root, folder, name);
    const declarations = readFileSync(file, 'utf8').replaceAll(/(from '\.\/[^']+)\.ts(?=')/g, '$1.js');
    writeFileSync(file, declarations.replaceAll(/(from "\.\/[^"]+)\.ts(?=")/g, '$1.js'));
  }
}

async function run(args, input = '') {
  const child = spawn(process.execPath, args, { cwd: root, stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = new Promise((resolve, reject) => child.on('error', reject).on('close', resolve));
  child.stdin.end(input);
  const [output, status] = await Promise.all([text(child.stdout), ended]);
  if (status === 0) return output;
  process.stderr.write(output);
  process.exit(1);
}
