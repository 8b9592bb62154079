// A registry of packages on loopback, made of what is installed here: npm installs from it as from the real one, and no
// network is needed.
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { basename, dirname, join } from 'node:path';

interface LockedPackage {
  version: string;
  dev?: boolean;
  link?: boolean;
  [field: string]: unknown;
}

export interface LoopbackRegistry {
  url: string;
  /** What npm asked for: names of packages. */
  asked: Set<string>;
  close(): Promise<void>;
}

/** `root` has a package-lock.json and node_modules. Packages that only builds and tests need are not offered. */
export async function startRegistry(root: string): Promise<LoopbackRegistry> {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, LockedPackage>;
  };
  const offered = Object.entries(packages).filter(
    ([location, { dev, link }]) => location.includes('node_modules/') && dev !== true && link !== true,
  );
  const asked = new Set<string>();
  let url = '';

  function describe(name: string): object | undefined {
    const versions = offered
      .filter(([location]) => nameOf(location) === name)
      .map(([location, locked]) => {
        // The lock's own checksum is of the file that the real registry has.
        const { integrity, resolved, ...manifest } = locked;
        const tarball = `${url}/-/${encodeURIComponent(location)}`;
        return [locked.version, { ...manifest, name, dist: { tarball } }] as const;
      });
    const latest = versions[0]?.[0];
    return latest === undefined ? undefined : { name, 'dist-tags': { latest }, versions: Object.fromEntries(versions) };
  }

  const server = createServer(({ url: path = '/' }, response) => {
    const [, name = ''] = decodeURIComponent(path).split(/^\//);
    if (name.startsWith('-/')) return sendTarball(join(root, name.slice(2)), response);
    asked.add(name);
    const found = describe(name);
    response.writeHead(found === undefined ? 404 : 200, { 'Content-Type': 'application/json' });
    response.end(JSON.stringify(found ?? { error: 'not found' }));
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    asked,
    async close() {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}

function nameOf(location: string): string {
  return location.slice(location.lastIndexOf('node_modules/') + 'node_modules/'.length);
}

/** npm takes off the first folder, whatever its name is, and does not mind that nothing is compressed. */
function sendTarball(folder: string, response: ServerResponse): void {
  const tar = spawn('tar', ['-cf', '-', '--exclude=node_modules', '-C', dirname(folder), basename(folder)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  response.writeHead(200, { 'Content-Type': 'application/octet-stream' });
  tar.stdout.pipe(response);
}
