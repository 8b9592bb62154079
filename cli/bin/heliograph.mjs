#!/usr/bin/env node
// The command `heliograph`, from the package or from the project's folder.
import { buildCommandLine, requireNode, runService } from './service.mjs';

/** They run on the service's machine, by the service's own program. */
const machineCommands = [
  'operator',
  'reset-password',
  'forget',
  'rotate-keys',
  'rotate-ring',
  'alert-secret',
  'backup',
  'restore',
  'plan',
  'apply',
  'export',
  'smsc',
];

requireNode();
const [command, ...args] = process.argv.slice(2);
// The virtual SMSC explains its own options.
const asksForHelp = command !== 'smsc' && args.some((arg) => arg === '--help' || arg === '-h');
if (command === 'start' && args.length === 0) {
  await runService([]);
} else if (machineCommands.includes(command) && !asksForHelp) {
  await runService([command, ...args]);
} else if (command === 'carriers' && args[0] === '--local' && !asksForHelp) {
  await runService(['carriers', ...args.slice(1)]);
} else {
  buildCommandLine();
  await import('../dist/main.js');
}
