import type { Command } from '../command/command.ts';
import { choicesOf, namesOf, optionsOf, optionsWithValue, wordGroups } from './words.ts';

/** A script for bash: it contains all commands and starts no program. */
export function bashScript(commands: readonly Command[]): string {
  const twoWords = commands.flatMap(({ name }) => (name.includes(' ') ? [`'${name}'`] : []));
  const taking = optionsWithValue(commands).join('|');
  return `# Completion of heliograph for bash. In ~/.bashrc:  source <(heliograph completion bash)
_heliograph() {
  local current="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}" name="" count=0 command words="" index
  COMPREPLY=()
  for ((index = 1; index < COMP_CWORD; index++)); do
    case "\${COMP_WORDS[index]}" in
      ${taking}) ((index++)) ;;
      -*) ;;
      *) ((count++)); ((count <= 2)) && name="\${name:+$name }\${COMP_WORDS[index]}" ;;
    esac
  done
  case "$name" in
    ${twoWords.join('|')}) command="$name" ;;
    *) command="\${name%% *}" ;;
  esac
  case "$before" in
    ${taking})
      case "$command $before" in
${valueLines(commands)}
        *) return ;;
      esac ;;
    *)
      case "$command" in
${optionLines(commands)}
      esac
      if [[ "$current" != -* ]]; then
        case "$name" in
${groupLines(commands)}
          *) words="$(for word in $words; do [[ $word != -* ]] && echo "$word"; done)" ;;
        esac
      fi ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _heliograph heliograph
`;
}

/** The next word of a command's name. */
function groupLines(commands: readonly Command[]): string {
  return wordGroups(commands)
    .map(({ after, words }) => `          '${after}') words="${words.map(({ word }) => word).join(' ')}" ;;`)
    .join('\n');
}

function optionLines(commands: readonly Command[]): string {
  return commands
    .flatMap((command) => {
      const words = [...optionsOf(command).map((option) => `--${option.name}`), ...choicesOf(command)];
      return namesOf(command).map((name) => `        '${name}') words="${words.join(' ')}" ;;`);
    })
    .join('\n');
}

/** Options whose value is one of a few words. For others bash offers files. */
function valueLines(commands: readonly Command[]): string {
  return commands
    .flatMap((command) =>
      optionsOf(command).flatMap(({ name, choices }) =>
        choices === undefined
          ? []
          : namesOf(command).map((each) => `        '${each} --${name}') words="${choices.join(' ')}" ;;`),
      ),
    )
    .join('\n');
}
