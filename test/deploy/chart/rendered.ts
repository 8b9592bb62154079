// The chart of deploy/chart, rendered with values as helm would.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Ajv } from 'ajv';
import { parse, parseAllDocuments } from 'yaml';
import { renderTemplates } from './template.ts';

export const chartFolder = fileURLToPath(new URL('../../../deploy/chart', import.meta.url));
const read = (name: string) => readFileSync(join(chartFolder, name), 'utf8');

export interface Manifest {
  apiVersion: string;
  kind: string;
  metadata: { name: string; labels: Record<string, string> };
  spec?: unknown;
}

export type Values = { [name: string]: unknown };

export const chart = parse(read('Chart.yaml')) as { name: string; version: string; appVersion: string };
export const defaults = parse(read('values.yaml')) as Values;
/** What an operator has to give. */
export const needed: Values = {
  image: { repository: 'registry.example.com/heliograph' },
  existingSecret: 'heliograph',
  publicUrl: 'https://sms.example.com',
};
export const templates = Object.fromEntries(
  readdirSync(join(chartFolder, 'templates')).map((name) => [name, read(join('templates', name))]),
);
export const matchesSchema = new Ajv({ allErrors: true }).compile(JSON.parse(read('values.schema.json')) as object);

/** The defaults with other values: maps are merged, as helm does it. */
export function merged(base: unknown, over: unknown): unknown {
  const isMap = (value: unknown) => typeof value === 'object' && value !== null && !Array.isArray(value);
  if (!isMap(base) || !isMap(over)) return over;
  const result = { ...(base as Values) };
  for (const [name, value] of Object.entries(over as Values))
    result[name] = name in result ? merged(result[name], value) : value;
  return result;
}

/** What templates get. */
export function dataFor(values: Values) {
  const { name, version, appVersion } = chart;
  return {
    Values: merged(merged(defaults, needed), values) as Values,
    Chart: { Name: name, Version: version, AppVersion: appVersion },
    Release: { Name: 'prod', Service: 'Helm', Namespace: 'default' },
  };
}

/** Values that the schema refuses throw, as `helm install` does. */
export function render(values: Values = {}): Manifest[] {
  const data = dataFor(values);
  if (!matchesSchema(data.Values)) throw new Error(JSON.stringify(matchesSchema.errors));
  return manifestsIn(renderTemplates(templates, data));
}

export function manifestsIn(written: Record<string, string>): Manifest[] {
  return Object.values(written)
    .flatMap((text) => parseAllDocuments(text).map((document) => document.toJS({}) as Manifest | null))
    .filter((manifest) => manifest !== null);
}

export interface Container {
  image: string;
  env: { name: string; value?: string; valueFrom?: { secretKeyRef: { key: string } } }[];
  startupProbe: Probe;
  readinessProbe: Probe;
  livenessProbe: Probe;
  lifecycle: { preStop: { exec: { command: string[] } } };
  securityContext: unknown;
  volumeMounts: { name: string; mountPath: string }[];
}

export interface Probe {
  httpGet: { path: string; port: string };
  periodSeconds: number;
  timeoutSeconds: number;
  failureThreshold: number;
}

export interface DeploymentSpec {
  replicas?: number;
  minReadySeconds: number;
  strategy: { rollingUpdate: { maxUnavailable: number; maxSurge: number } };
  template: {
    spec: {
      containers: Container[];
      volumes: { name: string; emptyDir?: object }[];
      terminationGracePeriodSeconds: number;
      [field: string]: unknown;
    };
  };
}

export function deploymentOf(
  manifests: Manifest[],
  role: 'web' | 'worker',
): { spec: DeploymentSpec; container: Container } {
  const found = manifests.find(({ kind, metadata }) => kind === 'Deployment' && metadata.name.endsWith(`-${role}`));
  const spec = found?.spec as DeploymentSpec;
  const [container] = spec.template.spec.containers;
  if (container === undefined) throw new Error(`no container of ${role}`);
  return { spec, container };
}
