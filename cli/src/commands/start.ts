import type { Command } from '../command/command.ts';
import { usageError } from '../process/exit.ts';
import { runService } from '../service/run-service.ts';

/** The service's setting for each option. */
const settings = { port: 'PORT', host: 'HOST', 'data-dir': 'HELIOGRAPH_DATA_DIR' };

export const start: Command = {
  name: 'start',
  topic: 'begin',
  summary: 'Start the service on this machine',
  more: [
    'Without settings it is a sandbox: it starts its own Postgres, stores everything in .heliograph in this folder, and no text leaves the machine. In the same folder, the other commands find it and its credentials without login.',
    'All settings are environment variables, or lines of a .env file in this folder: see docs/operations.md.',
  ],
  arguments: [],
  options: [
    { name: 'port', short: 'p', value: '<number>', summary: 'The port to listen on (PORT; 8080)' },
    { name: 'host', value: '<address>', summary: 'The address to listen on (HOST; 127.0.0.1)' },
    { name: 'data-dir', value: '<folder>', summary: 'The folder for its data (HELIOGRAPH_DATA_DIR; .heliograph)' },
  ],
  examples: [
    { summary: 'A sandbox on port 8080', line: 'heliograph start' },
    { summary: 'On another port, with data elsewhere', line: 'heliograph start --port 9090 --data-dir /tmp/sandbox' },
  ],
  async run({ values, output }) {
    if (output.isJson) throw usageError('start runs until Ctrl-C and has no result: leave out --json.');
    for (const [option, name] of Object.entries(settings)) {
      const value = values.text(option);
      if (value !== undefined) process.env[name] = value;
    }
    return runService([]);
  },
};
