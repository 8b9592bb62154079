// The samples of docs/guides, as files that a reader would have saved.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { guideSamples } from '../../portal/src/webhooks/guide-samples.ts';
import { makeFolder } from './process.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const folderOfGuides = join(root, 'docs/guides');

export interface Guide {
  name: string;
  text: string;
  samples: Map<string, string>;
}

export const guides: Guide[] = readdirSync(folderOfGuides)
  .filter((name) => name.endsWith('.md'))
  .map((name) => {
    const text = readFileSync(join(folderOfGuides, name), 'utf8');
    return { name, text, samples: guideSamples(text) };
  });

/** A folder with these samples, programs in TypeScript compiled (.mjs) with our client. */
export async function writeGuideSamples(samples: Map<string, string>): Promise<string> {
  const folder = makeFolder('guides');
  for (const [name, code] of samples) writeFileSync(join(folder, name), code);
  await build({
    absWorkingDir: folder,
    entryPoints: [...samples.keys()].filter((name) => name.endsWith('.ts')),
    outdir: folder,
    outExtension: { '.js': '.mjs' },
    alias: {
      '@heliograph/client/proof': join(root, 'sdk/src/proof-alone.ts'),
      '@heliograph/client': join(root, 'sdk/src/index.ts'),
    },
    format: 'esm',
    platform: 'node',
    target: 'node20',
    bundle: true,
    logLevel: 'warning',
  });
  return folder;
}
