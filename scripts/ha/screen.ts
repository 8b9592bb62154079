// Draws the state of everything once a second, and listens to keys. Without a terminal it prints a line every few seconds.
import { emitKeypressEvents } from 'node:readline';
import type { SentinelWorld } from '../../test/support/sentinels.ts';
import type { Caller } from './caller.ts';
import type { PatroniCluster } from './patroni.ts';

export interface Screen {
  close(): void;
}

export interface ScreenOptions {
  postgres: PatroniCluster;
  redis: SentinelWorld;
  nodes: { name: string; url: string }[];
  url: string;
  primaryPort: number;
  caller: Caller;
  acts: (say: (text: string) => void) => Record<string, [what: string, act: () => Promise<void>]>;
  stop: () => void;
}

const drawEveryMs = 1000;
const linesKept = 8;

export function createScreen(options: ScreenOptions): Screen {
  const { caller, stop } = options;
  const isTerminal = process.stdout.isTTY === true && process.stdin.isTTY === true;
  const said: string[] = [];
  const began = Date.now();
  const say = (text: string) => {
    const line = `${((Date.now() - began) / 1000).toFixed(1).padStart(6)} s  ${text}`;
    said.push(line);
    if (!isTerminal) console.log(line);
  };
  const acts = options.acts(say);
  let closed = false;
  let wasRefused = false;

  async function draw(): Promise<void> {
    const state = await describe(options);
    const { accepted, late, refused, lost, slowestMs } = caller.take();
    const isRefused = refused + lost > 0;
    if (isRefused !== wasRefused) say(isRefused ? 'texts wait: 503, or no answer' : 'texts are accepted again');
    wasRefused = isRefused;
    const texts = `${accepted} texts accepted (${late} late), ${refused} asked to try again, ${lost} without an answer; slowest ${Math.round(slowestMs)} ms`;
    if (closed) return;
    if (!isTerminal) return console.log([...state, texts].join(' | '));
    const keys = Object.entries(acts).map(([key, [what]]) => `${key}  ${what}`);
    const lines = [
      ...state,
      '',
      texts,
      `${caller.total()} since the start`,
      '',
      ...said.slice(-linesKept),
      '',
      ...keys,
      'q  stop everything',
    ];
    process.stdout.write(`\u001b[H${lines.map((line) => `${line}\u001b[K`).join('\n')}\n\u001b[J`);
  }

  async function goOn(): Promise<void> {
    while (!closed) {
      await draw().catch((error: Error) => say(error.message));
      await new Promise((done) => setTimeout(done, isTerminal ? drawEveryMs : 3000));
    }
  }

  function onKey(_text: string, key: { name?: string; ctrl?: boolean }): void {
    const isEnd = key.name === 'q' || (key.ctrl === true && key.name === 'c');
    if (isEnd) stop();
    const act = isEnd ? undefined : acts[key.name ?? '']?.[1];
    act?.().catch((error: Error) => say(error.message));
  }

  if (isTerminal) {
    process.stdout.write('\u001b[2J');
    emitKeypressEvents(process.stdin);
    process.stdin.setRawMode(true);
    process.stdin.on('keypress', onKey);
  }
  void goOn();
  return {
    close() {
      closed = true;
      if (isTerminal) process.stdin.setRawMode(false);
      process.stdin.pause();
    },
  };
}

async function describe({ postgres, redis, nodes, url, primaryPort }: ScreenOptions): Promise<string[]> {
  const members = (await postgres.states()).map(
    ({ name, role, state, timeline, lag }) =>
      `${name.padEnd(6)} ${role.padEnd(12)} ${state.padEnd(16)} timeline ${timeline ?? '-'}${lag === undefined ? '' : `, lag ${lag}`}`,
  );
  const master = await redis.master().catch(() => undefined);
  const servers = redis.ports.map((port) => `${port}${port === master ? ' (master)' : ''}`).join('  ');
  const states = await Promise.all(nodes.map(async (node) => `${node.name.padEnd(6)} ${await readyOf(node.url)}`));
  return [
    `Portal and APIs ${url} (HAProxy), Postgres's primary 127.0.0.1:${primaryPort} (HAProxy)`,
    ...(members.length > 0 ? members : ['Patroni does not answer']),
    `Redis  ${servers}`,
    ...states,
  ];
}

async function readyOf(url: string): Promise<string> {
  const answer = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(2500) }).catch(() => undefined);
  if (answer === undefined) return 'no answer';
  const { checks } = (await answer.json()) as { checks: Record<string, string> };
  const named = ['database', 'synchronous_standby', 'window_store'].map((name) => `${name} ${checks[name] ?? '-'}`);
  return `${answer.status}  ${named.join(', ')}`;
}
