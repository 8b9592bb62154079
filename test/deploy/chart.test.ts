// deploy/chart: rendered with many values, each manifest is right by the API's schemas and passes the restricted profile.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Deployment } from 'kubernetes-models/apps/v1/Deployment';
import { HorizontalPodAutoscaler } from 'kubernetes-models/autoscaling/v2/HorizontalPodAutoscaler';
import { Ingress } from 'kubernetes-models/networking.k8s.io/v1/Ingress';
import { NetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1/NetworkPolicy';
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1/PodDisruptionBudget';
import { Service } from 'kubernetes-models/v1/Service';
import { ServiceAccount } from 'kubernetes-models/v1/ServiceAccount';
import { settings } from '../../src/settings/settings.ts';
import {
  chart,
  deploymentOf,
  type Manifest,
  matchesSchema,
  merged,
  needed,
  render,
  templates,
  type Values,
} from './chart/rendered.ts';
import { unknownFields } from './chart/unknown-fields.ts';
import { everything, variants } from './chart/variants.ts';

/** A resource checks itself by the schema of its kind. */
const kinds: Record<string, { prototype: object }> = {
  ...{ Deployment, HorizontalPodAutoscaler, Ingress, NetworkPolicy, PodDisruptionBudget, Service, ServiceAccount },
};
/** Without a constructor, which would copy every field and so read it. */
function validate(Kind: (typeof kinds)[string], fields: object): void {
  (Object.assign(Object.create(Kind.prototype as object), fields) as { validate(): void }).validate();
}

const only = (manifests: Manifest[], kind: string) => manifests.filter((manifest) => manifest.kind === kind);

for (const [name, values] of Object.entries(variants)) {
  describe(`with ${name}`, () => {
    const manifests = render(values);

    test('each manifest is right by the schema of its kind, and has its name once', () => {
      for (const manifest of manifests) {
        const Kind = kinds[manifest.kind];
        if (Kind === undefined) assert.equal(manifest.apiVersion, 'monitoring.coreos.com/v1', manifest.kind);
        else
          assert.deepEqual(
            unknownFields(manifest, (watched) => validate(Kind, watched)),
            [],
          );
        assert.match(manifest.metadata.name, /^[a-z][a-z0-9-]{1,61}$/);
      }
      const names = manifests.map(({ kind, metadata }) => `${kind}/${metadata.name}`);
      assert.deepEqual([...new Set(names)], names);
    });

    test('pods pass the restricted profile and write to one empty folder', () => {
      for (const role of ['web', 'worker'] as const) {
        const { spec, container } = deploymentOf(manifests, role);
        const pod = spec.template.spec;
        const { runAsNonRoot, seccompProfile } = pod.securityContext as Record<string, unknown>;
        assert.deepEqual([runAsNonRoot, seccompProfile], [true, { type: 'RuntimeDefault' }]);
        assert.deepEqual(container.securityContext, {
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        });
        for (const refused of ['hostNetwork', 'hostPID', 'hostIPC']) assert.equal(pod[refused], undefined);
        assert.equal(pod.automountServiceAccountToken, false);
        const empty = pod.volumes.filter(({ emptyDir }) => emptyDir !== undefined).map((volume) => volume.name);
        const written = container.volumeMounts.filter((mount) => empty.includes(mount.name));
        assert.deepEqual(
          written.map(({ mountPath }) => mountPath),
          ['/var/lib/heliograph'],
        );
        assert.equal(settingOf(manifests, role, 'HELIOGRAPH_DATA_DIR'), '/var/lib/heliograph');
      }
    });

    test('pods have settings of the service alone, and none by chance', () => {
      for (const role of ['web', 'worker'] as const) {
        const { spec, container } = deploymentOf(manifests, role);
        const names = container.env.map((each) => each.name).filter((each) => !/^(?:NODE|OTEL)_/.test(each));
        assert.deepEqual(
          names.filter((each) => !Object.hasOwn(settings, each)),
          [],
        );
        assert.deepEqual([...new Set(names)], names);
        assert.equal(settingOf(manifests, role, 'HELIOGRAPH_ROLE'), role);
        // A service of the name would be HELIOGRAPH_PORT, with which the service does not start.
        assert.equal(spec.template.spec.enableServiceLinks, false);
      }
    });

    test('a pod has more time to end than it takes, and a roll takes none away', () => {
      const { spec, container } = deploymentOf(manifests, 'web');
      const [, seconds] = container.lifecycle.preStop.exec.command;
      assert.ok(spec.template.spec.terminationGracePeriodSeconds >= Number(seconds) + 20);
      assert.deepEqual(spec.strategy.rollingUpdate, { maxUnavailable: 0, maxSurge: 1 });
      const { readinessProbe: ready, livenessProbe: alive, startupProbe: start } = container;
      assert.deepEqual(
        [ready.httpGet.path, alive.httpGet.path, start.httpGet.path],
        ['/readyz', '/healthz', '/healthz'],
      );
      assert.equal(start.periodSeconds * start.failureThreshold, 600);
      // It leaves the balancers before it stops to serve.
      assert.ok(Number(seconds) > ready.periodSeconds * ready.failureThreshold);
    });
  });
}

function settingOf(manifests: Manifest[], role: 'web' | 'worker', name: string): string | undefined {
  return deploymentOf(manifests, role).container.env.find((each) => each.name === name)?.value;
}

test('a field that the API does not know is found', () => {
  const service = {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'x', label: {} },
    spec: { ports: [{ prot: 1, port: 1 }] },
  };
  const unknown = unknownFields(service, (watched) => validate(Service, watched));
  assert.deepEqual(unknown, ['/metadata/label', '/spec/ports/0/prot']);
});

test('values decide what there is', () => {
  const [byDefault, all, bare] = Object.values(variants).map((values) => render(values));
  assert.ok(byDefault !== undefined && all !== undefined && bare !== undefined);
  const counts = (manifests: Manifest[]) =>
    ['HorizontalPodAutoscaler', 'Ingress', 'NetworkPolicy', 'ServiceMonitor', 'PodDisruptionBudget'].map(
      (kind) => only(manifests, kind).length,
    );
  assert.deepEqual(
    [counts(byDefault), counts(all), counts(bare)],
    [
      [1, 0, 2, 0, 2],
      [0, 1, 2, 1, 2],
      [0, 0, 0, 0, 2],
    ],
  );
  assert.deepEqual(
    [deploymentOf(byDefault, 'web').spec.replicas, deploymentOf(bare, 'web').spec.replicas],
    [undefined, 2],
  );
  const images = [byDefault, all, bare].map((manifests) => deploymentOf(manifests, 'web').container.image);
  const repository = 'registry.example.com/heliograph';
  const digest = `${repository}@sha256:${'a'.repeat(64)}`;
  assert.deepEqual(images, [`${repository}:${chart.appVersion}`, `${repository}:1.2.3`, digest]);
  assert.equal(settingOf(all, 'web', 'HELIOGRAPH_TRUSTED_PROXIES'), '10.0.0.0/8,fd00::/8');
  const [ingress] = only(all, 'Ingress') as unknown as { spec: { rules: { host: string }[] } }[];
  assert.equal(ingress?.spec.rules[0]?.host, 'sms.example.com');
  const policies = only(byDefault, 'NetworkPolicy').map(({ spec }) => spec as { ingress: unknown[] });
  assert.deepEqual(
    policies.map(({ ingress: rules }) => rules.length),
    [1, 0],
    'workers take no calls',
  );
});

describe('the schema of the values', () => {
  test('takes the defaults once what is needed is there, and names what is not', () => {
    assert.equal(matchesSchema(needed), true);
    const withouts = Object.keys(needed).map((name) =>
      Object.fromEntries(Object.entries(needed).filter(([each]) => each !== name)),
    );
    for (const without of withouts) assert.equal(matchesSchema(without), false);
  });

  const wrong: [string, Values][] = [
    ['a misspelt value', { existingSecrets: 'x' }],
    ['a misspelt value within another', { web: { replica: 3 } }],
    ['a number as text', { web: { replicas: '3' } }],
    ['no replicas', { worker: { replicas: 0 } }],
    ['an address without a scheme', { publicUrl: 'sms.example.com' }],
    ['an address with a path', { publicUrl: 'https://sms.example.com/x' }],
    ['a digest that is none', { image: { digest: 'sha256:abc' } }],
    ['a setting that is none', { settings: { PATH: '/' } }],
    ['a setting that is a number', { settings: { HELIOGRAPH_TOKEN_SECONDS: 600 } }],
    ['a secret among the settings', { settings: { HELIOGRAPH_SECRET: 'x' } }],
    ['a setting that the chart gives', { settings: { HELIOGRAPH_ROLE: 'all' } }],
    ['a proxy that is no address', { trustedProxies: ['ingress'] }],
    ['a port below 1024', { web: { extraPorts: [{ name: 'smpp', port: 775 }] } }],
    ['a second port http', { web: { extraPorts: [{ name: 'http', port: 2775 }] } }],
    ['no pause before the end', { drain: { preStopSeconds: 0 } }],
  ];
  for (const [name, values] of wrong)
    test(`refuses ${name}`, () => assert.equal(matchesSchema(merged(needed, values)), false));

  test('and the templates refuse a grace that is shorter than the drain', () => {
    assert.throws(() => render({ drain: { preStopSeconds: 30, gracePeriodSeconds: 49 } }), /preStopSeconds \+ 20/);
    assert.ok(render({ drain: { preStopSeconds: 30, gracePeriodSeconds: 50 } }).length > 0);
  });
});

test('every value is used by a template, and the chart has the version of the service', () => {
  const text = Object.values(templates).join('\n');
  const unused = Object.keys(merged(needed, everything) as Values).filter((name) => !text.includes(`.Values.${name}`));
  assert.deepEqual(unused, []);
  assert.equal(chart.version, chart.appVersion);
});
