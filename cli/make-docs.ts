// Writes the reference of commands into docs/command-line.md, from the table of commands. Run it after each change of a command:
// node --import tsx cli/make-docs.ts
import { readFileSync, writeFileSync } from 'node:fs';
import { makeReference } from './src/command/reference.ts';
import { commands } from './src/commands.ts';

const file = new URL('../docs/command-line.md', import.meta.url);
const [head = ''] = readFileSync(file, 'utf8').split('## Commands\n');
writeFileSync(file, `${head}## Commands\n\n${makeReference(commands)}\n`);
