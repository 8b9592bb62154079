export const words = {
  title: 'System health',
  lead: 'As seen by the node that serves this page. Updated every 5 seconds.',
  postgres: {
    title: 'Postgres',
    facts: { state: 'State', version: 'Version', answer: 'Response time', connections: 'Connections' },
    answer: (ms: number) => `${ms} ms`,
    connections: (used: number, most: number) => `${used} of ${most}`,
  },
  redis: {
    title: 'Redis',
    states: { ok: 'ok', away: 'down', none: 'not used' },
    texts: {
      ok: 'Rate limits are exact across all nodes.',
      away: 'Each node applies its share of the rate limits until Redis answers again. Check that Redis runs and that REDIS_URL is right.',
      none: 'One node keeps the rate limits in memory. Set REDIS_URL to run several nodes.',
    },
  },
  carriers: {
    title: 'Carriers',
    none: 'No carrier is connected.',
    sandbox: 'Messages go to the virtual handsets.',
    production: 'Every message is refused.',
    add: 'Add a carrier',
    bind: (slot: number, error: string) => `Connection ${slot}: ${error}`,
  },
  queue: {
    title: 'Delivery queue',
    facts: { waiting: 'Waiting', sending: 'Sending', oldest: 'Oldest' },
    seconds: (count: number) => `${count} s`,
    open: 'Open queue',
  },
  service: {
    title: 'Service',
    facts: {
      version: 'Version',
      environment: 'Environment',
      started: 'Started',
      nodes: 'Nodes',
      accounts: 'Accounts',
      applications: 'Applications',
      pending: 'Pending approvals',
    },
  },
  ready: { title: 'Accepting requests', no: 'This node is stopping and takes no new requests.' },
  ok: 'ok',
  failed: 'failed',
  none: '–',
};
