/** What the inspector writes, as far as it is read here. */
export interface Profile {
  nodes: {
    id: number;
    callFrame: { functionName: string; url: string; lineNumber: number };
    children?: number[];
  }[];
  samples: number[];
  timeDeltas: number[];
}

/** A function as called from one place, with all that it called. */
export interface Frame {
  name: string;
  /** Our own file, a package, a module of Node's, or nothing for the engine itself. */
  place: string;
  selfUs: number;
  totalUs: number;
  children: Frame[];
}

const width = 1200;
const lineHeight = 17;
/** Narrower than this, in pixels, a frame cannot be seen. */
const narrowest = 0.6;

/** The calls as a tree. Waiting for something to do, and starting the profile itself, are left out. */
export function readProfile({ nodes, samples, timeDeltas }: Profile): Frame {
  const selfUs = new Map<number, number>();
  for (const [index, id] of samples.entries()) {
    selfUs.set(id, (selfUs.get(id) ?? 0) + (timeDeltas[index] ?? 0));
  }
  const byId = new Map(nodes.map((node) => [node.id, node]));

  function frameOf(id: number): Frame | undefined {
    const node = byId.get(id);
    if (node === undefined || node.callFrame.functionName === '(idle)') return undefined;
    if (node.callFrame.url.endsWith('/server-probe.mjs')) return undefined;
    const children = (node.children ?? []).map(frameOf).filter((child) => child !== undefined);
    const own = selfUs.get(id) ?? 0;
    const { functionName, url, lineNumber } = node.callFrame;
    return {
      name: functionName === '' ? '(anonymous)' : functionName,
      place: placeOf(url, lineNumber),
      selfUs: own,
      totalUs: children.reduce((sum, { totalUs }) => sum + totalUs, own),
      children: children.filter(({ totalUs }) => totalUs > 0).sort((a, b) => b.totalUs - a.totalUs),
    };
  }
  const root = frameOf(nodes[0]?.id ?? 0);
  if (root === undefined) throw new Error('the profile is empty');
  return root;
}

function placeOf(url: string, lineNumber: number): string {
  const own = /\/dist\/(.*)\.js$/.exec(url)?.[1];
  if (own !== undefined) return `src/${own}.ts`;
  const path = /\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.[1];
  if (path !== undefined) return `${path}:${lineNumber + 1}`;
  return url.startsWith('node:') ? url : '';
}

/** The functions that take most time themselves, wherever they are called from, as Markdown. */
export function selfTimes(root: Frame, count: number): string {
  const found = new Map<string, { name: string; place: string; us: number }>();
  function visit({ name, place, selfUs, children }: Frame): void {
    const key = `${name} ${place}`;
    const known = found.get(key) ?? { name, place, us: 0 };
    known.us += selfUs;
    found.set(key, known);
    for (const child of children) visit(child);
  }
  visit(root);
  const top = [...found.values()].sort((a, b) => b.us - a.us).slice(0, count);
  const lines = top.map(({ name, place, us }) => `| \`${name}\` | ${place} | ${percent(us, root)} |`);
  return `| Function | Where | Its own time |\n|---|---|---:|\n${lines.join('\n')}\n`;
}

function percent(us: number, { totalUs }: Frame): string {
  return `${((us / totalUs) * 100).toFixed(1)} %`;
}

/** Callers above, what they call below; as wide as it takes time. */
export function flameGraph(root: Frame): string {
  const parts: string[] = [];
  let depths = 0;
  function draw(frame: Frame, x: number, depth: number): void {
    const wide = (frame.totalUs / root.totalUs) * width;
    if (wide < narrowest) return;
    depths = Math.max(depths, depth + 1);
    const title = `${frame.name} ${frame.place} ${percent(frame.totalUs, root)}`;
    const shown = frame.name.slice(0, Math.floor(wide / 7));
    const box = `x="${x.toFixed(1)}" y="${depth * lineHeight}" width="${wide.toFixed(1)}" height="${lineHeight - 1}"`;
    const label =
      shown.length < 3 ? '' : `<text x="${(x + 3).toFixed(1)}" y="${depth * lineHeight + 12}">${escaped(shown)}</text>`;
    parts.push(`<g><title>${escaped(title)}</title><rect class="${kindOf(frame)}" ${box}/>${label}</g>`);
    let childX = x;
    for (const child of frame.children) {
      draw(child, childX, depth + 1);
      childX += (child.totalUs / root.totalUs) * width;
    }
  }
  draw(root, 0, 0);
  const height = depths * lineHeight;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-label="Flame graph">
<style>${style}</style>
${parts.join('\n')}
</svg>
`;
}

function kindOf({ name, place }: Frame): string {
  if (place.startsWith('src/')) return 'own';
  if (name === '(garbage collector)') return 'collector';
  return place === '' || place.startsWith('node:') ? 'node' : 'package';
}

const style = `
text { font: 11px ui-monospace, monospace; fill: #1f2328; }
.own { fill: #8cc0ee; } .package { fill: #f0c987; } .node { fill: #d0d7de; } .collector { fill: #f1a9a0; }
@media (prefers-color-scheme: dark) {
text { fill: #f0f6fc; }
.own { fill: #1f5f99; } .package { fill: #8a5a12; } .node { fill: #444c56; } .collector { fill: #8e2a20; }
}`;

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
