import { readFileSync } from 'node:fs';
import { createConfig, lintFromString } from '@redocly/openapi-core';

const rules = new URL('redocly.yaml', import.meta.url);

/** What Redocly finds in an OpenAPI document by our rules (redocly.yaml): errors and warnings alike. */
export async function lintOpenApi(document: string): Promise<string[]> {
  const config = await createConfig(readFileSync(rules, 'utf8'));
  const problems = await lintFromString({ source: document, config });
  return problems.map(({ ruleId, message, location }) => `${ruleId}: ${message} (${location[0]?.pointer ?? ''})`);
}
