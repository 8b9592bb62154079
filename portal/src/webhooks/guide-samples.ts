/** The code samples of docs/events.md by file name: `ts verify-webhook.ts` opens the block of that file. */
export function guideSamples(guide: string): Map<string, string> {
  const samples = new Map<string, string>();
  for (const [, indent = '', name = '', code = ''] of guide.matchAll(/^( *)```\w+ (\S+)\n([\s\S]*?)^\1```$/gm)) {
    samples.set(name, code.replaceAll(new RegExp(`^${indent}`, 'gm'), ''));
  }
  return samples;
}
