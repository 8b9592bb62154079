import type { Command } from '../command/command.ts';
import { findCommand } from '../command/find.ts';
import { helpOf, overview } from '../command/help.ts';
import { exit } from '../process/exit.ts';

/** A function, because the table of commands contains this command too. */
export function createHelp(all: () => readonly Command[]): Command {
  return {
    name: 'help',
    topic: 'shell',
    summary: 'Explain a command, or list all of them',
    arguments: [{ name: 'command', summary: 'Its name, like send or verify start', optional: true, many: true }],
    options: [],
    examples: [{ summary: 'How to send a text', line: 'heliograph help send' }],
    async run({ values, output }) {
      const columns = Math.min(100, output.columns());
      const found = findCommand(all(), values.arguments);
      if (output.isJson) output.json(found === undefined ? { commands: all().map(describe) } : describe(found.command));
      else
        for (const line of found === undefined ? overview(all(), columns) : helpOf(found.command, columns))
          output.print(line);
      return exit.done;
    },
  };
}

function describe({ name, topic, summary, more = [], arguments: args, options, examples }: Command): object {
  return { name, topic, summary, more, arguments: args, options, examples };
}
