// Reads an OpenAPI document from standard input and prints what Redocly finds in it by our rules (redocly.yaml), errors and
// warnings alike: a line each. It ends with 1 if there is anything.
import { readFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { createConfig, lintFromString } from '@redocly/openapi-core';

const config = await createConfig(readFileSync(new URL('redocly.yaml', import.meta.url), 'utf8'));
const problems = await lintFromString({ source: await text(process.stdin), config });
for (const { ruleId, message, location } of problems) {
  process.stdout.write(`${ruleId}: ${message.replaceAll(/\s+/g, ' ')} (${location[0]?.pointer ?? ''})\n`);
}
process.exitCode = problems.length === 0 ? 0 : 1;
