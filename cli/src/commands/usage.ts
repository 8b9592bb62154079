import type { UsageRecord } from '../../../src/portal/developer/usage-api.ts';
import type { Command } from '../command/command.ts';
import { exit } from '../process/exit.ts';
import { requireApplicationId } from '../service/application.ts';
import { openSession } from '../service/session.ts';
import { drawBars } from '../terminal/bar-chart.ts';
import { bold, dim, red, type Text } from '../terminal/text.ts';
import { clockTime } from '../views/message.ts';

const hourMs = 3_600_000;
const spans: Record<string, { step: string; ms: number; count: number }> = {
  hour: { step: 'minute', ms: hourMs / 60, count: 60 },
  day: { step: 'hour', ms: hourMs, count: 24 },
  month: { step: 'day', ms: 24 * hourMs, count: 30 },
};

export const usage: Command = {
  name: 'usage',
  topic: 'account',
  summary: 'Show the requests, texts and verifications of an application, and its remaining quota',
  arguments: [],
  options: [
    { name: 'span', value: '<span>', summary: 'The period; default hour', choices: Object.keys(spans) },
    { name: 'api', value: '<api>', summary: 'Only this API', choices: ['sms', 'verify', 'messaging'] },
  ],
  examples: [
    { summary: 'The last hour', line: 'heliograph usage' },
    { summary: 'The last month, for a program', line: 'heliograph usage --span month --json' },
  ],
  async run(call) {
    const { output, values } = call;
    const session = openSession(call);
    const id = await requireApplicationId(call, session);
    const { step, ms, count } = spans[values.text('span') ?? 'hour'] ?? { step: 'minute', ms: 60_000, count: 60 };
    const toMs = Math.ceil(Date.now() / ms) * ms;
    const query = { step, from: new Date(toMs - count * ms).toISOString(), to: new Date(toMs).toISOString() };
    const found = await session.call<UsageRecord>('GET', `/portal/v1/applications/${encodeURIComponent(id)}/usage`, {
      query,
    });
    const only = values.text('api');
    const data = found.data.filter(({ api }) => only === undefined || api === only);
    if (output.isJson) {
      output.json({ ...found, data });
      return exit.done;
    }
    for (const api of data) for (const line of drawApi(api, output.columns())) output.print(line);
    if (data.length === 0) output.say('The application is not registered for any API. Run `heliograph keys create`.');
    return exit.done;
  },
};

type ApiUsage = UsageRecord['data'][number];

function drawApi(
  { api, plan, per_minute: limit, remaining, totals, states, steps }: ApiUsage,
  columns: number,
): Text[] {
  const { admitted, refused, messages, segments, verifications, approved } = totals;
  const made =
    api === 'verify'
      ? `${verifications} verifications, ${approved} approved`
      : `${messages} texts, ${segments} segments`;
  const inStates = Object.entries(states).map(([state, count]) => `${count} ${state}`);
  const bars = steps.map((each) => ({ good: each.admitted, bad: each.refused }));
  const labels: [string, string] = [clockTime(steps[0]?.at ?? ''), clockTime(steps.at(-1)?.at ?? '')];
  return [
    [bold(api), dim(`  ${plan}: ${limit} requests a minute, ${remaining} left now`)],
    [`${admitted} requests`, refused > 0 ? red(`, ${refused} refused`) : '', `; ${made}`],
    ...(inStates.length === 0 ? [] : [dim(inStates.join(', '))]),
    ...(admitted + refused === 0 ? [] : drawBars(bars, { columns, height: 5, labels })),
    '',
  ];
}
