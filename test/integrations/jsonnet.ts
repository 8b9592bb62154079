// Kratos makes what it posts by jsonnet. scripts/system-needs.ts gets the interpreter for the tests that import this file.
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolder } from '../support/process.ts';

/** What a template makes of `ctx`, as Kratos passes it. */
export function runTemplate(template: string, ctx: object): string {
  const folder = makeFolder('jsonnet');
  const file = join(folder, 'template.jsonnet');
  writeFileSync(file, template);
  return execFileSync('jsonnet', ['--tla-code', `ctx=${JSON.stringify(ctx)}`, file], { encoding: 'utf8' });
}
