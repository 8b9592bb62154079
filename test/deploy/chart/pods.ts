// What Kubernetes does with the pods of a Deployment, with real processes on loopback: probes, the list of ready pods behind
// a service, rolls with preStop and grace.

import type { AddressInfo } from 'node:net';
import { connect, createServer, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { freePort, makeFolder } from '../../support/process.ts';
import { type Service, startService } from '../../support/service.ts';
import { readOnlyCommand } from './read-only.ts';
import type { Container, DeploymentSpec, Probe } from './rendered.ts';

/** Until every node of a cluster knows that a pod leaves. */
const newsMs = 2000;

/** New connections go to ready pods in turn; a connection stays with its pod, as with kube-proxy. */
export interface ServiceAddress {
  url: string;
  ready: Set<number>;
  close(): Promise<void>;
}

export async function createServiceAddress(): Promise<ServiceAddress> {
  const ready = new Set<number>();
  const sockets = new Set<Socket>();
  let turn = 0;
  const server = createServer((client) => {
    const ports = [...ready];
    const port = ports[turn++ % Math.max(1, ports.length)];
    if (port === undefined) return client.resetAndDestroy();
    const pod = connect(port, '127.0.0.1');
    for (const [one, other] of [
      [client, pod],
      [pod, client],
    ] as const) {
      sockets.add(one);
      one.on('error', () => other.destroy()).on('close', () => sockets.delete(one));
      one.pipe(other);
    }
    return undefined;
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    ready,
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((done) => server.close(done));
    },
  };
}

interface Pod {
  port: number;
  service: Service;
  /** Ends its probes. */
  leaving: AbortController;
}

/** The pods of a Deployment. `secrets` are the keys of its secret. */
export class Pods {
  readonly #spec: DeploymentSpec;
  readonly #container: Container;
  readonly #secrets: Record<string, string>;
  readonly #address: ServiceAddress;
  readonly outputs: string[] = [];
  #pods: Pod[] = [];

  constructor(spec: DeploymentSpec, container: Container, secrets: Record<string, string>, address: ServiceAddress) {
    this.#spec = spec;
    this.#container = container;
    this.#secrets = secrets;
    this.#address = address;
  }

  async start(count: number): Promise<void> {
    for (let started = 0; started < count; started++) this.#pods.push(await this.#startPod());
  }

  /** Replaces each pod: first a new one that is ready, and then the old one ends. */
  async roll(): Promise<void> {
    for (const old of [...this.#pods]) {
      const fresh = await this.#startPod();
      await pause(this.#spec.minReadySeconds * 1000);
      await this.#endPod(old);
      this.#pods = [...this.#pods.filter((pod) => pod !== old), fresh];
    }
  }

  async #startPod(): Promise<Pod> {
    const port = await freePort();
    const dataDir = makeFolder('pod');
    const given = this.#container.env.map(({ name, value, valueFrom }) => [
      name,
      value ?? this.#secrets[valueFrom?.secretKeyRef.key ?? ''] ?? '',
    ]);
    const command = [process.execPath, `${process.cwd()}/dist/service/main.js`] as const;
    const service = await startService({
      port,
      dataDir,
      cwd: dataDir,
      command: readOnlyCommand?.(dataDir, [...command]) ?? [...command],
      env: { ...Object.fromEntries(given), HOST: '127.0.0.1', PORT: String(port), HELIOGRAPH_DATA_DIR: dataDir },
    });
    const pod = { port, service, leaving: new AbortController() };
    const { startupProbe, readinessProbe } = this.#container;
    await this.#succeeds(pod, startupProbe, startupProbe.failureThreshold);
    await this.#succeeds(pod, readinessProbe, Number.POSITIVE_INFINITY);
    this.#address.ready.add(port);
    void this.#keepProbing(pod);
    return pod;
  }

  async #succeeds(pod: Pod, probe: Probe, attempts: number): Promise<void> {
    for (let attempt = 0; attempt < attempts; attempt++) {
      if (await isOk(pod, probe)) return;
      await Promise.race([pause(probe.periodSeconds * 1000), pod.service.ended]);
    }
    throw new Error(`a pod did not start: ${pod.service.output()}`);
  }

  /** A pod that is not ready gets no new connections. One that leaves is not asked. */
  async #keepProbing(pod: Pod): Promise<void> {
    const { readinessProbe: probe } = this.#container;
    for (let failures = 0; !pod.leaving.signal.aborted; ) {
      await pause(probe.periodSeconds * 1000, undefined, { signal: pod.leaving.signal }).catch(() => {});
      if (pod.leaving.signal.aborted) return;
      failures = (await isOk(pod, probe)) ? 0 : failures + 1;
      if (pod.leaving.signal.aborted) return;
      if (failures === 0) this.#address.ready.add(pod.port);
      if (failures >= probe.failureThreshold) this.#address.ready.delete(pod.port);
    }
  }

  /** The news of its end goes to the nodes while preStop waits; then SIGTERM, and SIGKILL once the grace is over. */
  async #endPod(pod: Pod): Promise<void> {
    pod.leaving.abort();
    const graceMs = this.#spec.template.spec.terminationGracePeriodSeconds * 1000;
    const kill = setTimeout(() => pod.service.kill('SIGKILL'), graceMs);
    const news = pause(newsMs).then(() => this.#address.ready.delete(pod.port));
    const [program, seconds] = this.#container.lifecycle.preStop.exec.command;
    if (program !== 'sleep') throw new Error(`preStop runs ${program}`);
    await pause(Number(seconds) * 1000);
    pod.service.kill('SIGTERM');
    const { code } = await pod.service.ended;
    clearTimeout(kill);
    await news;
    this.outputs.push(pod.service.output());
    if (code !== 0) throw new Error(`a pod ended with ${code}: ${pod.service.output()}`);
  }

  async end(): Promise<void> {
    for (const { leaving, service } of this.#pods) {
      leaving.abort();
      service.kill('SIGTERM');
    }
    await Promise.all(this.#pods.map(({ service }) => service.ended));
  }
}

async function isOk({ port }: Pod, { httpGet, timeoutSeconds }: Probe): Promise<boolean> {
  try {
    const signal = AbortSignal.timeout(timeoutSeconds * 1000);
    const { ok } = await fetch(`http://127.0.0.1:${port}${httpGet.path}`, { signal });
    return ok;
  } catch {
    return false;
  }
}
