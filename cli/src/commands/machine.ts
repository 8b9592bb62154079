import type { Command, Example } from '../command/command.ts';
import { runService } from '../service/run-service.ts';
import type { Argument } from '../syntax/option.ts';

/** Runs on the service's machine with the service's settings: the service's own program does the work. */
function machineCommand(
  name: string,
  summary: string,
  examples: Example[],
  takes: Argument[] = [],
  whileRunning = 'The service may keep running.',
): Command {
  return {
    name,
    topic: 'machine',
    summary,
    more: [`Run it in the folder of the service, with its settings. ${whileRunning}`],
    arguments: takes,
    options: [],
    examples,
    takesAll: true,
    run: ({ values }) => runService([name, ...values.arguments]),
  };
}

export const machineCommands: readonly Command[] = [
  machineCommand(
    'operator',
    'Make an account an operator, by a one-time link',
    [{ summary: 'Print the link', line: 'heliograph operator you@example.com' }],
    [{ name: 'email', summary: 'The email of the account' }],
  ),
  machineCommand(
    'reset-password',
    'Print a one-time link that sets a new password',
    [{ summary: 'Print the link', line: 'heliograph reset-password you@example.com' }],
    [{ name: 'email', summary: 'The email of the account' }],
  ),
  machineCommand(
    'forget',
    'Mask a phone number in all records',
    [{ summary: 'At the request of a person', line: 'heliograph forget +447700900123' }],
    [{ name: 'number', summary: 'The number with its country code, like +447700900123' }],
  ),
  machineCommand(
    'rotate-keys',
    'Create a new key that signs tokens',
    [
      { summary: 'In an hour; tokens stay valid', line: 'heliograph rotate-keys' },
      { summary: 'Immediately; revokes every token', line: 'heliograph rotate-keys --withdraw' },
    ],
    [{ name: 'options', summary: '--withdraw revokes every token immediately', optional: true }],
  ),
  machineCommand(
    'plan',
    'Show what a file of declared configuration would change; exits with 2 if anything',
    [
      { summary: 'In a pull request', line: 'heliograph plan heliograph.json' },
      { summary: 'Also show what --prune would delete', line: 'heliograph plan heliograph.json --prune' },
    ],
    [
      { name: 'file', summary: 'JSON; docs/guides/gitops.md explains it' },
      { name: 'options', summary: '--prune, --json', optional: true },
    ],
  ),
  machineCommand(
    'apply',
    'Apply the declared configuration of a file',
    [
      { summary: 'After the review', line: 'heliograph apply heliograph.json' },
      {
        summary: 'With new API keys, client secrets and secrets of webhooks',
        line: 'heliograph apply heliograph.json --credentials new-credentials.json',
      },
    ],
    [
      { name: 'file', summary: 'JSON; docs/guides/gitops.md explains it' },
      {
        name: 'options',
        summary: '--prune deletes what the file does not name; --credentials <new file>; --json',
        optional: true,
      },
    ],
  ),
  machineCommand(
    'export',
    'Write the configuration to a file for apply, without secrets',
    [{ summary: 'To begin with', line: 'heliograph export heliograph.json' }],
    [
      { name: 'file', summary: 'The file to write; without it, the output', optional: true },
      { name: 'options', summary: '--replace writes a file anew', optional: true },
    ],
  ),
  machineCommand('rotate-ring', 'Create a new version of the key ring', [
    { summary: 'Older rows stay valid', line: 'heliograph rotate-ring' },
  ]),
  machineCommand('alert-secret', 'Print the secret that signs alerts for operators', [
    { summary: 'For the program behind HELIOGRAPH_ALERT_URL', line: 'heliograph alert-secret' },
  ]),
  machineCommand(
    'backup',
    'Write all records into one file',
    [{ summary: 'While the service runs', line: 'heliograph backup heliograph-2026-11-16.backup' }],
    [{ name: 'file', summary: 'The file to write. It must not exist yet' }],
  ),
  machineCommand(
    'restore',
    'Restore the records of a backup',
    [
      { summary: 'Into an empty database', line: 'heliograph restore heliograph-2026-11-16.backup' },
      {
        summary: 'Delete the current records first',
        line: 'heliograph restore --replace heliograph-2026-11-16.backup',
      },
      {
        summary: 'Suspend no credential, because none was revoked since the backup',
        line: 'heliograph restore --trust-credentials heliograph-2026-11-16.backup',
      },
    ],
    [
      { name: 'options', summary: '--replace, --trust-credentials or both', optional: true },
      { name: 'file', summary: 'The backup' },
    ],
    'Stop every node of the service first.',
  ),
  machineCommand(
    'smsc',
    'Start a virtual SMSC, to try a carrier without an account',
    [
      { summary: 'On loopback, with a page of the received texts', line: 'heliograph smsc' },
      { summary: 'All its options', line: 'heliograph smsc --help' },
    ],
    [{ name: 'options', summary: 'Ports, receipts and faults; --help lists them', optional: true }],
  ),
];
