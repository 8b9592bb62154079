// The pages of docs/integrations, and their samples as files that a reader would have saved.
import { readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { guideSamples } from '../../portal/src/webhooks/guide-samples.ts';
import { makeFolder } from './process.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const folderOfPages = join(root, 'docs/integrations');

export const integrationPages = readdirSync(folderOfPages).map((name) => {
  const text = readFileSync(join(folderOfPages, name), 'utf8');
  return { name, text, samples: guideSamples(text) };
});

export const integrationSamples = new Map(integrationPages.flatMap(({ samples }) => [...samples]));

/** A folder with these samples, those in TypeScript compiled (.mjs), and the project's packages. */
export async function writeIntegrationSamples(names: readonly string[], more: Record<string, string> = {}) {
  const folder = makeFolder('integrations');
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'), 'dir');
  for (const [name, code] of [...integrationSamples, ...Object.entries(more)]) writeFileSync(join(folder, name), code);
  const programs = [...names, ...Object.keys(more)].filter((name) => name.endsWith('.ts'));
  await build({
    absWorkingDir: folder,
    entryPoints: programs,
    outdir: folder,
    outExtension: { '.js': '.mjs' },
    format: 'esm',
    target: 'node20',
    bundle: true,
    packages: 'external',
    logLevel: 'warning',
  });
  return folder;
}
