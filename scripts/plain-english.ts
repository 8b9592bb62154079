// Finds phrases that our readers stumble over, in comments, messages, page texts and documents (CONTRIBUTING.md). Part of
// `npm run lint`. With `--list <folder>` it prints every sentence of a folder instead, to be read at one go.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type Sentence, sentencesOf } from './sentences.ts';

/** What not to write, and what to write instead. */
const phrases: [pattern: RegExp, instead: string][] = [
  [/\b(?:told|tells?|telling)\b/i, 'say who emits, reports or shows what'],
  [/\bso (?:many|long|often|much)\b/i, 'name the number: "N", "at most", "maximum"'],
  [/\bwho(?:so)?ever\b/i, 'name the actor'],
  [/\bany ?more\b/i, '"no longer"'],
  [/\b(?:deeds?|obeys?|obeyed|fates?)\b/i, 'use the words of the trade'],
  [/\bcourses?\b/i, '"lease" or "state"; drop "of course"'],
  [/\blook(?:s|ed|ing)? (?:again|at|whether|for)\b/i, '"poll", "read", "check" or "find"'],
  [/\b(?:nobody|somebody)\b/i, 'name the actor'],
  [/\bof which\b/i, 'begin a new sentence'],
];

const root = fileURLToPath(new URL('..', import.meta.url));
const [flag, folder = ''] = process.argv.slice(2);
const files = execFileSync('git', ['ls-files'], { cwd: root, encoding: 'utf8' })
  .split('\n')
  .filter((name) => /\.(?:tsx?|mjs|md)$/.test(name) && !isLeftOut(name));

if (flag === '--list') for (const each of allBelow(folder)) console.log(`${each.file}:${each.line} ${each.text}`);
else check();

/** Generated files, the user's own words, and words that are data. */
function isLeftOut(name: string): boolean {
  return (
    /^(?:migrations|bench\/results|sdk\/src\/openapi\.ts|docs\/(?:specification|cli|routes|test-results)|CHANGELOG)/.test(
      name,
    ) || /^scripts\/plain-english|\/openapi\.ts$|translations|third-party/i.test(name)
  );
}

function allBelow(prefix: string): (Sentence & { file: string })[] {
  return files
    .filter((file) => file.startsWith(prefix))
    .flatMap((file) => sentencesOf(file, readFileSync(root + file, 'utf8')).map((each) => ({ file, ...each })));
}

function check(): void {
  const found = allBelow(flag ?? '').flatMap(({ file, line, text }) =>
    phrases.flatMap(([pattern, instead]) => {
      const [phrase] = pattern.exec(text) ?? [];
      return phrase === undefined ? [] : `${file}:${line}: "${phrase}": ${instead}\n    ${text.slice(0, 160)}`;
    }),
  );
  if (found.length === 0) return;
  console.error(found.join('\n'));
  console.error(
    `\n${found.length} phrases that are not plain English. Rewrite each sentence: the actor first, short, the words of the trade.`,
  );
  process.exitCode = 1;
}
