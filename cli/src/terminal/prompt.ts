import { createInterface } from 'node:readline';
import { StringDecoder } from 'node:string_decoder';
import { CommandError, exit, failure, usageError } from '../process/exit.ts';
import { clean } from './clean.ts';

/** Asks a person, or reads stdin. Questions go to stderr, because stdout has the result. */
export interface Prompt {
  /** Whether there is a person to ask. */
  canAsk(): boolean;
  ask(question: string, otherwise?: string): Promise<string>;
  /** The input is not shown. */
  askSecret(question: string): Promise<string>;
  /** Any answer except yes means no. */
  confirm(question: string): Promise<boolean>;
  /** All of stdin, up to a length; throws if stdin is a terminal. */
  readPiped(what: string, mostBytes: number): Promise<string>;
}

export interface PromptOptions {
  stdin: NodeJS.ReadStream;
  stderr: NodeJS.WriteStream;
  signal: AbortSignal;
}

const longestAnswer = 4096;
const interrupted = () => new CommandError(exit.interrupted, 'Interrupted.');

export function createPrompt({ stdin, stderr, signal }: PromptOptions): Prompt {
  const canAsk = () => stdin.isTTY === true && stderr.isTTY === true;
  let piped: Promise<string> | undefined;

  function requireTerminal(question: string): void {
    if (!canAsk())
      throw usageError(
        `There is no terminal for the question: ${question}`,
        'Use an option instead: --help lists them.',
      );
  }

  async function ask(question: string, otherwise?: string): Promise<string> {
    requireTerminal(question);
    const lines = createInterface({ input: stdin, output: stderr, historySize: 0 });
    const shown = `${clean(question)}${otherwise === undefined ? '' : ` [${clean(otherwise)}]`}: `;
    try {
      const answer = await new Promise<string>((resolve, reject) => {
        lines.on('SIGINT', () => reject(interrupted()));
        lines.on('close', () => reject(interrupted()));
        signal.addEventListener('abort', () => lines.close(), { once: true });
        lines.question(shown, resolve);
      });
      return answer.slice(0, longestAnswer).trim() || (otherwise ?? '');
    } catch (error) {
      stderr.write('\n');
      throw error;
    } finally {
      lines.close();
    }
  }

  return {
    canAsk,
    ask,

    async askSecret(question) {
      requireTerminal(question);
      stderr.write(`${clean(question)}: `);
      try {
        return await readWithoutEcho(stdin, signal);
      } finally {
        stderr.write('\n');
      }
    },

    async confirm(question) {
      const answer = await ask(`${question} (y/N)`);
      return /^y(es)?$/i.test(answer);
    },

    readPiped(what, mostBytes) {
      if (stdin.isTTY === true) throw usageError(`The ${what} is missing: pass it on stdin or on the command line.`);
      piped ??= readAll(stdin, what, mostBytes);
      return piped;
    },
  };
}

/** Limited, so that a wrong file does not fill the memory. */
async function readAll(stdin: NodeJS.ReadStream, what: string, mostBytes: number): Promise<string> {
  const pieces: Buffer[] = [];
  let length = 0;
  for await (const piece of stdin) {
    pieces.push(piece as Buffer);
    length += (piece as Buffer).length;
    if (length > mostBytes) throw failure(`The ${what} from stdin is longer than ${mostBytes} bytes.`);
  }
  const text = Buffer.concat(pieces)
    .toString('utf8')
    .replace(/\r?\n$/, '');
  if (text === '') throw usageError(`The ${what} is missing: stdin is empty.`);
  return text;
}

function readWithoutEcho(stdin: NodeJS.ReadStream, signal: AbortSignal): Promise<string> {
  return new Promise((resolve, reject) => {
    let typed: string[] = [];
    const decoder = new StringDecoder('utf8');
    const end = (act: () => void) => {
      stdin.off('data', take);
      signal.removeEventListener('abort', stop);
      stdin.setRawMode(false);
      stdin.pause();
      act();
    };
    const stop = () => end(() => reject(interrupted()));
    const take = (bytes: Buffer) => {
      for (const character of decoder.write(bytes)) {
        if (character === '\r' || character === '\n') return end(() => resolve(typed.join('')));
        if (character === '\u0003' || (character === '\u0004' && typed.length === 0)) return stop();
        if (character === '\u007f' || character === '\b') typed.pop();
        else if (character === '\u0015') typed = [];
        else if (character >= ' ' && typed.length < longestAnswer) typed.push(character);
      }
    };
    stdin.setRawMode(true);
    stdin.resume();
    stdin.on('data', take);
    signal.addEventListener('abort', stop, { once: true });
  });
}
