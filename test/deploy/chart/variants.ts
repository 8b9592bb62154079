import type { Values } from './rendered.ts';

const peer = { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'monitoring' } } };
export const everything: Values = {
  image: { tag: '1.2.3' },
  imagePullSecrets: [{ name: 'registry' }],
  trustedProxies: ['10.0.0.0/8', 'fd00::/8'],
  settings: { HELIOGRAPH_TOKEN_SECONDS: '600', LOG_LEVEL: 'warn' },
  env: [{ name: 'NODE_EXTRA_CA_CERTS', value: '/certificates/ca.pem' }],
  web: {
    autoscaling: { enabled: false },
    extraPorts: [{ name: 'smpp', port: 2775 }],
    nodeSelector: { disk: 'ssd' },
    tolerations: [{ key: 'dedicated', operator: 'Exists' }],
    affinity: {
      podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: 'kubernetes.io/hostname' }] },
    },
  },
  service: { annotations: { a: 'b' } },
  ingress: { enabled: true, className: 'nginx', tlsSecret: 'tls', annotations: { a: 'b' } },
  networkPolicy: { ingressFrom: [peer], metricsFrom: [peer], egress: [{ ports: [{ port: 5432 }] }] },
  serviceMonitor: { enabled: true, labels: { release: 'prometheus' } },
  serviceAccount: { annotations: { a: 'b' } },
  podAnnotations: { a: 'b' },
  podLabels: { team: 'messaging' },
  extraVolumes: [{ name: 'certificates', secret: { secretName: 'certificates' } }],
  extraVolumeMounts: [{ name: 'certificates', mountPath: '/certificates', readOnly: true }],
};
/** Values for which the chart is rendered. */
export const variants: Record<string, Values> = {
  'the defaults': {},
  everything,
  'a digest, no autoscaling, no network policy': {
    image: { digest: `sha256:${'a'.repeat(64)}` },
    web: { autoscaling: { enabled: false } },
    networkPolicy: { enabled: false },
  },
};
