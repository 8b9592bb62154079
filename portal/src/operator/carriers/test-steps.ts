import type { Carrier, CarrierTest } from '../../api/operator-types.ts';
import { words } from '../../words/operator/carriers.ts';

export interface ShownStep {
  title: string;
  state: 'ok' | 'failed' | 'running' | 'open';
  detail: string;
  tookMs: number | undefined;
}

const titles: Record<string, string> = {
  name: words.steps.name,
  connection: words.steps.connection,
  tls: words.steps.tls,
  bind: words.steps.bind,
  text: words.steps.text,
  receipt: words.steps.receipt,
};

const stepsOf: Record<string, string[]> = {
  smpp: ['name', 'connection', 'tls', 'bind', 'text', 'receipt'],
  http: ['name', 'connection', 'tls', 'text', 'receipt'],
};

/** The steps that were done, the one that runs and those to come. */
export function shownSteps(test: CarrierTest, { kind }: Carrier): ShownStep[] {
  const done = test.steps.map(({ step, ok, detail, took_ms }): ShownStep & { step: string } => ({
    step,
    title: titles[step] ?? step,
    state: ok ? 'ok' : 'failed',
    detail,
    tookMs: took_ms,
  }));
  const isOver = test.status === 'passed' || test.status === 'failed';
  const wanted = stepsOf[kind] ?? [];
  const last = wanted.indexOf(done.at(-1)?.step ?? '');
  const open = isOver ? [] : wanted.slice(last + 1);
  return [
    ...done,
    ...open.map(
      (step, index): ShownStep => ({
        title: titles[step] ?? step,
        state: index === 0 ? 'running' : 'open',
        detail: index === 0 && test.status === 'waiting' ? words.steps.waiting : '',
        tookMs: undefined,
      }),
    ),
  ];
}
