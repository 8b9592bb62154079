import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { eventually } from '../support/eventually.ts';
import { freePort, makeFolder } from '../support/process.ts';

const configuration = fileURLToPath(new URL('../../deploy/haproxy.cfg', import.meta.url));

export interface HaProxy {
  url: string;
  port: number;
  /** How many nodes it sends requests to, by its own metrics. */
  ready(): Promise<number>;
  close(): Promise<void>;
}

/** HAProxy with the configuration of deploy/: only the addresses in it are those of this machine. */
export async function startHaProxy(nodePorts: [number, number]): Promise<HaProxy> {
  const [port, metricsPort] = [await freePort(), await freePort()];
  const file = join(makeFolder('haproxy'), 'haproxy.cfg');
  const text = nodePorts.reduce(
    (written, nodePort, index) => replaceOnce(written, `node${index + 1}:8080`, `127.0.0.1:${nodePort}`),
    replaceOnce(
      replaceOnce(readFileSync(configuration, 'utf8'), 'bind :8080', `bind 127.0.0.1:${port}`),
      'bind :8405',
      `bind 127.0.0.1:${metricsPort}`,
    ),
  );
  writeFileSync(file, text);
  // -db keeps it in the foreground.
  const child: ChildProcess = spawn('haproxy', ['-db', '-f', file], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, PATH: `${process.env.PATH}:/usr/sbin` },
  });
  const url = `http://127.0.0.1:${port}`;
  const answers = () =>
    fetch(url).then(
      (response) => response.text().then(() => true),
      () => false,
    );
  await eventually('HAProxy answers', answers);
  return {
    url,
    port,
    async ready() {
      const metrics = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
      return [...metrics.matchAll(/^haproxy_server_status\{proxy="nodes",server="node\d",state="UP"\} 1/gm)].length;
    },
    async close() {
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    },
  };
}

function replaceOnce(text: string, what: string, by: string): string {
  if (text.split(what).length !== 2) throw new Error(`deploy/haproxy.cfg has not one ${what}`);
  return text.replace(what, by);
}
