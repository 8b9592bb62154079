import type { Command } from '../command/command.ts';
import { bashScript } from '../completion/bash.ts';
import { fishScript } from '../completion/fish.ts';
import { zshScript } from '../completion/zsh.ts';
import { exit } from '../process/exit.ts';

const scripts = { bash: bashScript, zsh: zshScript, fish: fishScript };

/** A function, because the table of commands contains this command too. */
export function createCompletion(all: () => readonly Command[]): Command {
  return {
    name: 'completion',
    topic: 'shell',
    summary: 'Print a script that completes commands and options in your shell',
    arguments: [{ name: 'shell', summary: 'Which shell', choices: Object.keys(scripts) }],
    options: [],
    examples: [
      { summary: 'Permanently, in bash', line: "echo 'source <(heliograph completion bash)' >> ~/.bashrc" },
      { summary: 'Permanently, in zsh', line: "echo 'source <(heliograph completion zsh)' >> ~/.zshrc" },
      {
        summary: 'Permanently, in fish',
        line: 'heliograph completion fish > ~/.config/fish/completions/heliograph.fish',
      },
    ],
    async run({ values, output }) {
      const shell = values.arguments[0] as keyof typeof scripts;
      const script = scripts[shell](all());
      if (output.isJson) output.json({ shell, script });
      else process.stdout.write(script);
      return exit.done;
    },
  };
}
