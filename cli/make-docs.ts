// Writes the reference of commands into docs/command-line.md, from the table of commands. After a change of them:
// node --import tsx cli/make-docs.ts
import { readFileSync, writeFileSync } from 'node:fs';
import { commands } from './src/commands/commands.ts';
import { makeReference } from './src/reference.ts';

const file = new URL('../docs/command-line.md', import.meta.url);
const [head = ''] = readFileSync(file, 'utf8').split('## Commands\n');
writeFileSync(file, `${head}## Commands\n\n${makeReference(commands)}\n`);
