// Maps positions in the compiled files, as a process of tests prints them, to positions in the sources. Node can
// do that in each process (--enable-source-maps); the first error then takes a third of a second of CPU in every one.
import { readFileSync } from 'node:fs';
import { SourceMap, type SourceMapPayload } from 'node:module';
import { dirname, relative, resolve } from 'node:path';

const location = /(?:file:\/\/)?[^\s()'"]*\/compiled\/([^\s()'"]+\.js):(\d+):(\d+)/g;

/** Returns the text with the places of sources, as paths from `root`. `compiled` is the folder of the compiled files. */
export function createSourcePlaces(compiled: string, root: string): (text: string) => string {
  const maps = new Map<string, SourceMap | undefined>();

  function mapOf(file: string): SourceMap | undefined {
    if (!maps.has(file)) maps.set(file, readMap(`${compiled}/${file}.map`));
    return maps.get(file);
  }

  return (text) =>
    text.replaceAll(location, (printed: string, file: string, line: string, column: string) => {
      const entry = mapOf(file)?.findEntry(Number(line) - 1, Number(column) - 1);
      if (entry === undefined || !('originalSource' in entry)) return printed;
      const source = resolve(dirname(`${compiled}/${file}`), entry.originalSource);
      return `${relative(root, source)}:${entry.originalLine + 1}:${entry.originalColumn + 1}`;
    });
}

function readMap(path: string): SourceMap | undefined {
  try {
    return new SourceMap(JSON.parse(readFileSync(path, 'utf8')) as SourceMapPayload);
  } catch {
    return undefined;
  }
}
