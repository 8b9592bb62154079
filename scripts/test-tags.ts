// How a test file runs: its first line may name tags, as in `// run: alone, on both lanes`. Without one, it shares a process.
import { textOf } from './test-files.ts';

export interface TestTags {
  /** It starts processes that need the cores, or ends them, so it has a process of its own. */
  alone: boolean;
  /** `with pages`: the files of this group share one process, and in it what is slow to start, such as a browser. */
  group: string | undefined;
  /** `npm test` runs it on the second HTTP lane too: it tests how requests are read and responses written. */
  onBothLanes: boolean;
  /** `npm run test:long` runs it with several web processes too (decision 0027); test/processes/ has the short form. */
  onWebProcesses: boolean;
}

export function tagsOf(file: string): TestTags {
  const [, line = ''] = /^\/\/ run: (.+)$/m.exec(textOf(file).split('\n', 1)[0] ?? '') ?? [];
  const tags = line === '' ? [] : line.split(', ');
  const unknown = tags.filter((tag) => !/^(alone|with [\w ]+|on both lanes|on web processes)$/.test(tag));
  if (unknown.length > 0) throw new Error(`${file}: the first line has an unknown tag: ${unknown.join(', ')}`);
  return {
    alone: tags.includes('alone'),
    group: tags.find((tag) => tag.startsWith('with '))?.slice('with '.length),
    onBothLanes: tags.includes('on both lanes'),
    onWebProcesses: tags.includes('on web processes'),
  };
}
