import { HeliographError } from '../../../sdk/src/index.ts';
import { sleep } from '../../../sdk/src/waiting.ts';
import type { CarrierRecord } from '../../../src/portal/operator/carrier-record.ts';
import type { Call, Command } from '../command/command.ts';
import { exit, failure } from '../process/exit.ts';
import { runService } from '../service/run-service.ts';
import { openSession, type Session } from '../service/session.ts';
import { bold, dim, green, red, type Text } from '../terminal/text.ts';
import { stateText } from '../views/message.ts';

const path = '/portal/v1/operator/carriers';
const carrierArgument = { name: 'carrier', summary: 'The name of the carrier' };

/** To a caller who is no operator the service answers 404. */
export async function asOperator<Result>(act: (session: Session) => Promise<Result>, call: Call): Promise<Result> {
  const session = openSession(call);
  try {
    return await act(session);
  } catch (error) {
    if (!(error instanceof HeliographError) || error.status !== 404) throw error;
    const { operator } = await session.call<{ operator: boolean }>('GET', '/portal/v1/me');
    if (operator) throw error;
    throw failure(
      'Only operators can do this. You are not an operator.',
      "On the service's machine, `heliograph operator <email>` makes your account one. `heliograph carriers --local status` needs no account there.",
    );
  }
}

export const listCarriers: Command = {
  name: 'carriers list',
  isDefault: true,
  topic: 'operator',
  summary: 'List the carriers with the state of their connections',
  arguments: [],
  options: [],
  examples: [{ summary: 'Is everything connected?', line: 'heliograph carriers' }],
  async run(call) {
    const { output } = call;
    const { data } = await asOperator(
      (session) => session.call<{ data: CarrierRecord[] }>('GET', path, { query: { limit: 100 } }),
      call,
    );
    if (output.isJson) {
      output.json({ data });
      return exit.done;
    }
    const rows = data.map(({ name, kind, paused, state, binds, hint }) => [
      bold(name),
      kind,
      stateText(paused ? 'paused' : state),
      `${binds.filter((each) => ['bound', 'ready'].includes(each.state)).length} of ${binds.length}`,
      hint ?? binds.find(({ error }) => error !== null)?.error ?? '',
    ]);
    output.table(
      [
        { title: 'Carrier' },
        { title: 'Kind' },
        { title: 'State' },
        { title: 'Connections', optional: 1 },
        { title: 'Problem', flexible: true },
      ],
      rows,
    );
    if (data.length === 0)
      output.say(
        'No carrier is connected: in a sandbox, texts go to the virtual handsets. See `heliograph help carriers --local`.',
      );
    return exit.done;
  },
};

function switchCommand(verb: 'pause' | 'resume', summary: string, example: string): Command {
  return {
    name: `carriers ${verb}`,
    topic: 'operator',
    summary,
    arguments: [carrierArgument],
    options: [],
    examples: [{ summary: example, line: `heliograph carriers ${verb} acme` }],
    async run(call) {
      const { output, values } = call;
      const address = `${path}/${encodeURIComponent(values.arguments[0] ?? '')}/${verb}`;
      const carrier = await asOperator((session) => session.call<CarrierRecord>('POST', address), call);
      if (output.isJson) output.json(carrier);
      else output.print([green('✓ '), bold(carrier.name), '  ', stateText(carrier.paused ? 'paused' : carrier.state)]);
      return exit.done;
    },
  };
}

export const pauseCarrier = switchCommand(
  'pause',
  'Pause a carrier: it sends no texts, but still receives receipts',
  'Before its maintenance',
);
export const resumeCarrier = switchCommand('resume', 'Resume a paused carrier', 'After its maintenance');

export const tryCarrier: Command = {
  name: 'carriers try',
  topic: 'operator',
  summary: 'Connect a carrier now, without waiting for its next attempt',
  arguments: [carrierArgument],
  options: [],
  examples: [{ summary: 'The provider has fixed the account', line: 'heliograph carriers try acme' }],
  async run(call) {
    const { output, values } = call;
    const address = `${path}/${encodeURIComponent(values.arguments[0] ?? '')}/try`;
    const carrier = await asOperator((session) => session.call<CarrierRecord>('POST', address), call);
    if (output.isJson) output.json(carrier);
    else output.print([green('✓ '), bold(carrier.name), '  Connecting. See `heliograph carriers`.']);
    return exit.done;
  },
};

interface CarrierTest {
  id: string;
  status: string;
  steps: { step: string; ok: boolean; detail: string; took_ms: number }[];
  error: string | null;
}

export const testCarrier: Command = {
  name: 'carriers test',
  topic: 'operator',
  summary: 'Test a carrier: connect, bind, send one text, wait for its receipt',
  more: ['It sends a real text. The exit code is 0 if every step worked.'],
  arguments: [carrierArgument, { name: 'to', summary: 'Your own phone number' }],
  options: [{ name: 'from', short: 'f', value: '<sender>', summary: 'The sender of the text' }],
  examples: [{ summary: 'A text to your own phone', line: 'heliograph carriers test acme +447700900123' }],
  async run(call) {
    const { output, signal, values } = call;
    const [name = '', to = ''] = values.arguments;
    const from = values.text('from');
    const address = `${path}/${encodeURIComponent(name)}/test`;
    const progress = output.progress(`Testing ${name}`);
    let shown = 0;
    try {
      return await asOperator(async (session) => {
        const { id } = await session.call<{ id: string }>('POST', address, {
          body: { to, ...(from !== undefined && { from }) },
        });
        for (;;) {
          const test = await session.call<CarrierTest>('GET', `${address}/${id}`);
          if (!output.isJson) for (const step of test.steps.slice(shown)) output.print(stepText(step));
          shown = test.steps.length;
          if (['passed', 'failed'].includes(test.status)) return finish(call, test);
          await sleep(500, signal);
        }
      }, call);
    } finally {
      progress.end();
    }
  },
};

function stepText({ step, ok, detail, took_ms: ms }: CarrierTest['steps'][number]): Text {
  return [ok ? green('✓ ') : red('✗ '), bold(step.padEnd(12)), detail, dim(`  ${ms} ms`)];
}

function finish({ output }: Call, test: CarrierTest) {
  if (output.isJson) output.json(test);
  else if (test.error !== null) output.print(red(test.error));
  return test.status === 'passed' ? exit.done : exit.failed;
}

export const localCarriers: Command = {
  name: 'carriers --local',
  topic: 'operator',
  summary: "Configure carriers from a file, on the service's machine, without an account",
  more: [
    'Run it in the folder of the service, with its settings. The service may keep running. docs/carriers.md explains the file.',
  ],
  arguments: [
    {
      name: 'command',
      summary: 'apply <file>, export, status, test <name> <number>, try <name>, explain <number>',
      optional: true,
    },
  ],
  options: [],
  examples: [
    { summary: 'Show what would change', line: 'heliograph carriers --local apply carriers.json --dry-run' },
    { summary: 'Apply the file', line: 'heliograph carriers --local apply carriers.json' },
  ],
  takesAll: true,
  run: ({ values }) => runService(['carriers', ...values.arguments]),
};
