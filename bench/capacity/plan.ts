/** Microseconds of CPU for one of something. */
export interface Cost {
  node: number;
  postgres: number;
}

/** What one machine takes for one of each. */
export interface Measured {
  accept: Cost;
  deliver: Cost;
  start: Cost;
  check: Cost;
  token: Cost;
  read: Cost;
  list: Cost;
  /** From a request to its answer, when a caller is alone: mostly one commit to disk. */
  commitMs: number;
  /** On disk, with indexes, for a text that was delivered and for a code with its text. */
  textBytes: number;
  codeBytes: number;
  /** Of Postgres's log, which replicas and archives get too. */
  textWalBytes: number;
  codeWalBytes: number;
}

/** In the busiest minute. */
export interface Load {
  textsPerSecond: number;
  codesPerSecond: number;
  /** Texts a second that a carrier takes on one bind. */
  carrierRate: number;
}

/** What is not measured here, with where it is from. All of it is printed. */
export const assumed = {
  /** A core that is busier answers late. */
  busyShare: 0.6,
  /** docs/operations.md: the busy hour has three times the average. */
  busyHour: 3,
  checksPerCode: 1.2,
  readsPerText: 0.5,
  listsPerText: 0.01,
  /** A client keeps its token for an hour. */
  tokensPerCode: 0.01,
  /** Asking the parent for the windows, both sides together. */
  parentMicroseconds: 10,
  /** docs/operations.md: 23 to 50 µs alone, 3.5 together with others. */
  redisMicroseconds: 25,
  /** docs/operations.md: of a node in role `all`, and of a worker. */
  connectionsPerNode: 35,
  /** Beyond that, one Postgres on one machine needs luck: locks and the log are shared. */
  postgresCores: 32,
  postgresWalBytes: 150e6,
  keepDays: 365,
};

export interface Step {
  what: string;
  /** As a person would write it down. */
  arithmetic: string;
}

export interface Plan {
  load: Load;
  webProcesses: number;
  /** A node has one delivery thread, so this is also how many nodes there must be at least. */
  deliveryThreads: number;
  nodeCores: number;
  postgresCores: number;
  /** 0 where one node is enough. */
  redisCores: number;
  connections: number;
  binds: number;
  diskBytesPerDay: number;
  walBytesPerSecond: number;
  cells: number;
  steps: Step[];
}

export function planFor(measured: Measured, load: Load): Plan {
  const steps: Step[] = [];
  const show = (what: string, arithmetic: string) => void steps.push({ what, arithmetic });
  const acts = actsOf(load);
  const sums = sumCosts(measured, acts, show);
  const { busyShare } = assumed;
  const webProcesses = Math.max(1, Math.ceil(sums.web / busyShare));
  show('Web processes', roundedUp(sums.web, webProcesses));
  const deliveryThreads = Math.max(1, Math.ceil(sums.delivery / busyShare));
  show('Delivery threads, one a node', roundedUp(sums.delivery, deliveryThreads));
  const requests = acts.reduce((sum, { perSecond, isRequest }) => sum + (isRequest ? perSecond : 0), 0);
  const parent = webProcesses > 1 ? (requests * assumed.parentMicroseconds) / 1e6 : 0;
  if (parent > 0)
    show('Windows in the parent', `${count(requests)} requests × ${assumed.parentMicroseconds} µs = ${cores(parent)}`);
  const nodeCores = (sums.web + sums.delivery + parent) / busyShare;
  show(
    'Cores for Node',
    `(${cores(sums.web)} + ${cores(sums.delivery)} + ${cores(parent)}) ÷ ${busyShare} = ${nodeCores.toFixed(1)}`,
  );
  const postgresCores = sums.postgres / busyShare;
  show('Cores for Postgres', `${cores(sums.postgres)} ÷ ${busyShare} = ${postgresCores.toFixed(1)}`);
  const redisCores = deliveryThreads > 1 ? (requests * assumed.redisMicroseconds) / 1e6 / busyShare : 0;
  show(
    'Redis',
    redisCores === 0
      ? 'one node keeps its windows itself: none'
      : `${count(requests)} requests × ${assumed.redisMicroseconds} µs ÷ ${busyShare} = ${redisCores.toFixed(1)} cores`,
  );
  const connections = deliveryThreads * assumed.connectionsPerNode;
  show('Connections to Postgres', `nodes: ${deliveryThreads} × ${assumed.connectionsPerNode} = ${connections}`);
  const leaving = load.textsPerSecond + load.codesPerSecond;
  const binds = Math.ceil(leaving / load.carrierRate);
  show(
    'Binds',
    `(${count(load.textsPerSecond)} texts + ${count(load.codesPerSecond)} codes) ÷ ${count(load.carrierRate)} a second = ${binds}`,
  );
  const storage = planStorage(measured, load, show);
  const cells = Math.max(
    1,
    Math.ceil(postgresCores / assumed.postgresCores),
    Math.ceil(storage.walBytesPerSecond / assumed.postgresWalBytes),
  );
  show(
    'Cells, each with a Postgres',
    `by cores ${postgresCores.toFixed(1)} ÷ ${assumed.postgresCores}, by log ${megabytes(storage.walBytesPerSecond)} ÷ ${megabytes(assumed.postgresWalBytes)} a second: ${cells}`,
  );
  return {
    load,
    webProcesses,
    deliveryThreads,
    nodeCores,
    postgresCores,
    redisCores,
    connections,
    binds,
    ...storage,
    cells,
    steps,
  };
}

interface Acts {
  what: string;
  cost: keyof Measured & ('accept' | 'deliver' | 'start' | 'check' | 'token' | 'read' | 'list');
  perSecond: number;
  isRequest: boolean;
}

function actsOf({ textsPerSecond, codesPerSecond }: Load): Acts[] {
  const request = (what: string, cost: Acts['cost'], perSecond: number) => ({ what, cost, perSecond, isRequest: true });
  return [
    request('texts accepted', 'accept', textsPerSecond),
    request('reads', 'read', textsPerSecond * assumed.readsPerText),
    request('list pages', 'list', textsPerSecond * assumed.listsPerText),
    request('codes started', 'start', codesPerSecond),
    request('codes checked', 'check', codesPerSecond * assumed.checksPerCode),
    request('tokens', 'token', codesPerSecond * assumed.tokensPerCode),
    {
      what: 'texts and codes delivered',
      cost: 'deliver',
      perSecond: textsPerSecond + codesPerSecond,
      isRequest: false,
    },
  ];
}

function sumCosts(measured: Measured, acts: Acts[], show: (what: string, arithmetic: string) => void) {
  const sums = { web: 0, delivery: 0, postgres: 0 };
  for (const { what, cost, perSecond, isRequest } of acts) {
    if (perSecond === 0) continue;
    const { node, postgres } = measured[cost];
    sums[isRequest ? 'web' : 'delivery'] += (perSecond * node) / 1e6;
    sums.postgres += (perSecond * postgres) / 1e6;
    const of = (microseconds: number) => `${count(microseconds)} µs = ${cores((perSecond * microseconds) / 1e6)}`;
    show(`${count(perSecond)} ${what} a second`, `Node × ${of(node)}; Postgres × ${of(postgres)}`);
  }
  return sums;
}

const day = 86_400;

function planStorage(
  measured: Measured,
  { textsPerSecond, codesPerSecond }: Load,
  show: (what: string, arithmetic: string) => void,
) {
  const { textBytes, codeBytes, textWalBytes, codeWalBytes } = measured;
  const perSecond = textsPerSecond * textBytes + codesPerSecond * codeBytes;
  const diskBytesPerDay = (perSecond * day) / assumed.busyHour;
  show(
    'Disk a day',
    `(${count(textsPerSecond)} × ${count(textBytes)} + ${count(codesPerSecond)} × ${count(codeBytes)} bytes) × 86,400 ÷ ${assumed.busyHour} = ${gigabytes(diskBytesPerDay)}; ${assumed.keepDays} days: ${gigabytes(diskBytesPerDay * assumed.keepDays)}`,
  );
  const walBytesPerSecond = textsPerSecond * textWalBytes + codesPerSecond * codeWalBytes;
  show(
    'Log of Postgres',
    `${count(textsPerSecond)} × ${count(textWalBytes)} + ${count(codesPerSecond)} × ${count(codeWalBytes)} bytes = ${megabytes(walBytesPerSecond)} a second`,
  );
  return { diskBytesPerDay, walBytesPerSecond };
}

/** How many texts a second fit on a machine that has everything on it, with a code for every tenth text. */
export function fitsOn(measured: Measured, machineCores: number, carrierRate: number): Plan {
  const planOf = (textsPerSecond: number) =>
    planFor(measured, { textsPerSecond, codesPerSecond: textsPerSecond / 10, carrierRate });
  let [low, high] = [0, 1_000_000];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    const { nodeCores, postgresCores, redisCores } = planOf(middle);
    if (nodeCores + postgresCores + redisCores <= machineCores) low = middle;
    else high = middle;
  }
  return planOf(low);
}

export function count(value: number): string {
  return value < 10 && !Number.isInteger(value) ? value.toFixed(1) : Math.round(value).toLocaleString('en');
}

export function gigabytes(bytes: number): string {
  return bytes < 1e12 ? `${(bytes / 1e9).toFixed(bytes < 1e10 ? 1 : 0)} GB` : `${(bytes / 1e12).toFixed(1)} TB`;
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(bytes < 1e7 ? 1 : 0)} MB`;
}

function roundedUp(need: number, whole: number): string {
  return `${cores(need)} ÷ ${assumed.busyShare} = ${(need / assumed.busyShare).toFixed(2)}, so ${count(whole)}`;
}

function cores(value: number): string {
  return value.toFixed(value < 0.1 ? 3 : 2);
}
