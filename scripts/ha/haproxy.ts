import type { ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import type { PatroniCluster } from './patroni.ts';
import { configure, launch } from './programs.ts';

export interface HaProxyOptions {
  postgres: PatroniCluster;
  /** Both of them: the file names two. */
  nodes: { url: string }[];
  /** Leads to the member that takes writes. */
  primaryPort: number;
  /** Leads to the nodes. */
  callersPort: number;
}

/** HAProxy by the file of deploy/ha. */
export function startHaProxy(folder: string, options: HaProxyOptions): ChildProcess {
  const { postgres, nodes, primaryPort, callersPort } = options;
  const changes: [string, string][] = [
    ['10.0.0.21:5000', `127.0.0.1:${primaryPort}`],
    ['10.0.0.21:8080', `127.0.0.1:${callersPort}`],
    ...postgres.members.map((member, index): [string, string] => [
      `10.0.0.${index + 1}:5432 check port 8008`,
      `127.0.0.1:${member.port} check port ${member.restPort}`,
    ]),
    ...nodes.map((node, index): [string, string] => [`10.0.0.3${index + 1}:8080`, node.url.replace('http://', '')]),
  ];
  return launch('haproxy', ['-db', '-f', configure('haproxy.cfg', join(folder, 'haproxy.cfg'), changes)], folder);
}
