// Writes dist/sbom.cdx.json; `npm pack` runs it, so that every package has its bill of materials.
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { createSbom } from './sbom.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
writeFileSync(`${root}dist/sbom.cdx.json`, createSbom(root));
