import type { RouteExplanationRecord, RouteTableRecord } from '../../../src/portal/operator/route-api.ts';
import type { Command } from '../command/command.ts';
import { exit } from '../process/exit.ts';
import { bold, dim, green, red } from '../terminal/text.ts';
import { asOperator } from './carriers.ts';

const path = '/portal/v1/operator/routes';

export const listRoutes: Command = {
  name: 'routes list',
  isDefault: true,
  topic: 'operator',
  summary: 'List the routes: which carriers take which texts',
  arguments: [],
  options: [],
  examples: [{ summary: 'In order; the first match applies', line: 'heliograph routes' }],
  async run(call) {
    const { output } = call;
    const table = await asOperator((session) => session.call<RouteTableRecord>('GET', path), call);
    if (output.isJson) {
      output.json(table);
      return exit.done;
    }
    const rows = table.routes.map(({ name, match, carriers, failover }, index) => [
      String(index + 1),
      bold(name),
      Object.entries(match)
        .flatMap(([what, values]) => (values.length === 0 ? [] : [`${what} ${values.join(' ')}`]))
        .join('; ') || 'every text',
      carriers.map(({ carrier, weight }) => (carriers.length === 1 ? carrier : `${carrier} ×${weight}`)).join(', '),
      failover.join(', '),
    ]);
    output.table(
      [
        { title: '#' },
        { title: 'Route' },
        { title: 'Matches', flexible: true },
        { title: 'Carriers', flexible: true },
        { title: 'Failover', optional: 1 },
      ],
      rows,
    );
    if (rows.length === 0) output.say('There are no routes: the first carrier by name takes every text.');
    return exit.done;
  },
};

export const explainRoute: Command = {
  name: 'routes explain',
  topic: 'operator',
  summary: 'Explain which carriers would take a text, and why',
  arguments: [{ name: 'to', summary: 'The number' }],
  options: [
    { name: 'from', short: 'f', value: '<sender>', summary: 'The sender of the text' },
    { name: 'api', value: '<api>', summary: 'The API of the text', choices: ['sms', 'verify', 'messaging'] },
    { name: 'message', value: '<id>', summary: 'The id of a sent text, to explain its carrier' },
  ],
  examples: [{ summary: 'Which carrier would take it', line: 'heliograph routes explain +447700900123 --from ACME' }],
  async run(call) {
    const { output, values } = call;
    const body = {
      to: values.arguments[0] ?? null,
      from: values.text('from') ?? null,
      api: values.text('api') ?? null,
      message_id: values.text('message') ?? null,
    };
    const found = await asOperator(
      (session) => session.call<RouteExplanationRecord>('POST', `${path}/explain`, { body }),
      call,
    );
    if (output.isJson) output.json(found);
    else {
      const rule = found.rule === null ? '' : `  by the route ${found.rule.name}`;
      output.print([found.outcome === 'routed' ? green(found.outcome) : red(found.outcome), rule]);
      output.table(
        [
          { title: 'Carrier' },
          { title: 'Share', align: 'right' },
          { title: 'Free', optional: 1 },
          { title: 'Why', flexible: true },
        ],
        found.candidates.map(({ carrier, share, available, reason }) => [
          bold(carrier),
          `${Math.round(share * 100)} %`,
          available ? green('yes') : red('no'),
          reason,
        ]),
      );
      if (found.deferred_until !== null) output.say(dim(`It waits until ${found.deferred_until}.`));
    }
    return found.outcome === 'routed' ? exit.done : exit.failed;
  },
};
