// The licences of the packages that a bundle contains: who hands on their code has to hand on these texts too.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** `inputs` are the files of esbuild's metafile, relative to `root`. */
export function thirdPartyLicences(root, inputs) {
  const folders = new Set(inputs.map(packageFolderOf).filter((folder) => folder !== undefined));
  const entries = [...folders]
    .map((folder) => entryOf(join(root, folder)))
    .sort((one, other) => (one < other ? -1 : 1));
  return ['Heliograph contains code of these packages.', ...entries].join(`\n\n${'-'.repeat(80)}\n\n`);
}

/** `node_modules/a/node_modules/@b/c/x.js` is of the package in `node_modules/a/node_modules/@b/c`. */
function packageFolderOf(file) {
  return /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(file)?.[0];
}

function entryOf(folder) {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
  const text = file === undefined ? '' : `\n\n${readFileSync(join(folder, file), 'utf8').trim()}`;
  return `${name} ${version} (${license})${text}`;
}
