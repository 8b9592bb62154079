import type { Command } from '../command/command.ts';
import type { Option } from '../syntax/option.ts';
import { choicesOf, namesOf, optionsOf, optionsWithValue, wordGroups } from './words.ts';

/** A script for zsh: it contains all commands and starts no program. */
export function zshScript(commands: readonly Command[]): string {
  const twoWords = commands.flatMap(({ name }) => (name.includes(' ') ? [`'${name}'`] : []));
  return `#compdef heliograph
# Completion of heliograph for zsh. In ~/.zshrc, after compinit:  source <(heliograph completion zsh)
_heliograph() {
  local name="" command="" count=0 index
  local -a found
  for ((index = 2; index < CURRENT; index++)); do
    case "\${words[index]}" in
      ${optionsWithValue(commands).join('|')}) ((index++)) ;;
      -*) ;;
      *) ((++count <= 2)) && name="\${name:+$name }\${words[index]}" ;;
    esac
  done
  case "$name" in
    ${twoWords.join('|')}) command="$name" ;;
    *) command="\${name%% *}" ;;
  esac
  if [[ "\${words[CURRENT]}" != -* ]]; then
    case "$name" in
${wordGroups(commands)
  .map(
    ({ after, words }) =>
      `      '${after}') found=(${words.map(({ word, summary }) => describe(word, summary)).join(' ')}); _describe command found; return ;;`,
  )
  .join('\n')}
    esac
  fi
  case "$command" in
${commands
  .flatMap((command) => namesOf(command).map((name) => `    '${name}') _arguments -s ${argumentsOf(command)} ;;`))
  .join('\n')}
    *) _files ;;
  esac
}
compdef _heliograph heliograph
`;
}

function describe(word: string, summary: string): string {
  return `'${escaped(word)}:${escaped(summary)}'`;
}

function argumentsOf(command: Command): string {
  const choices = choicesOf(command);
  const rest = choices.length === 0 ? `'*:argument:_files'` : `'*:argument:(${choices.join(' ')})'`;
  return [...optionsOf(command).map(optionSpec), rest].join(' ');
}

function optionSpec({ name, value, summary, choices, many }: Option): string {
  const values =
    value === undefined ? '' : `:${escaped(value)}:${choices === undefined ? '_files' : `(${choices.join(' ')})`}`;
  return `'${many ? '*' : ''}--${name}[${escaped(summary)}]${values}'`;
}

/** Escapes a text for single quotes, in which zsh interprets colons and brackets. */
function escaped(text: string): string {
  return text.replaceAll("'", '’').replaceAll(/[[\]:\\]/g, (character) => `\\${character}`);
}
