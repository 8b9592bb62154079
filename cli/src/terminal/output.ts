import { cleanJson } from './clean.ts';
import { type Column, renderTable } from './table.ts';
import { cut, render, type Text, wrapText } from './text.ts';

/** The output of the program: results on stdout, messages and progress on stderr. */
export interface Output {
  readonly isJson: boolean;
  /** Whether a person reads stdout. */
  readonly isTerminal: boolean;
  /** The width of the terminal. */
  columns(): number;
  /** A line of the result. */
  print(text: Text): void;
  /** The result for programs: one line, or readable on a terminal. */
  json(value: unknown): void;
  /** One of many results. Always one line. */
  jsonLine(value: unknown): void;
  /** A table on a terminal; tab-separated lines in a pipe. */
  table(columns: readonly Column[], rows: readonly (readonly Text[])[]): void;
  /** A message for people. Not printed with --json. */
  say(text: Text): void;
  /** An error message, also printed with --json. */
  complain(text: Text): void;
  /** Shows progress; `update` says what. */
  progress(text: string): Progress;
}

export interface Progress {
  update(text: string): void;
  end(): void;
}

export interface OutputOptions {
  stdout: NodeJS.WriteStream;
  stderr: NodeJS.WriteStream;
  isJson: boolean;
  /** Whether the caller allows colours. */
  colours: boolean;
}

const frames = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
const frameMs = 90;
/** Work that ends sooner shows no progress. */
const quietMs = 250;

export function createOutput({ stdout, stderr, isJson, colours }: OutputOptions): Output {
  const isTerminal = stdout.isTTY === true;
  const showsProgress = stderr.isTTY === true && process.env.TERM !== 'dumb';
  let shown: { text: string; frame: number; visible: boolean; timer: NodeJS.Timeout } | undefined;

  const widthOf = (stream: NodeJS.WriteStream) => Math.max(20, stream.columns || 80);

  function hide(): void {
    if (shown?.visible) stderr.write('\r\u001b[K');
    if (shown !== undefined) shown.visible = false;
  }

  function draw(): void {
    if (shown === undefined) return;
    const line: Text = [{ style: 'cyan', text: frames[shown.frame++ % frames.length] ?? '' }, ' ', shown.text];
    // A longer line would wrap and could not be erased.
    stderr.write(`\r\u001b[K${render(cut(line, widthOf(stderr) - 1), colours)}`);
    shown.visible = true;
  }

  function write(stream: NodeJS.WriteStream, text: Text): void {
    hide();
    const isShown = stream.isTTY === true;
    const lines = isShown ? wrapText(text, widthOf(stream)) : [text];
    stream.write(lines.map((line) => `${render(line, colours && isShown)}\n`).join(''));
  }

  return {
    isJson,
    isTerminal,
    columns: () => widthOf(stdout),
    print: (text) => write(stdout, text),
    json: (value) => {
      hide();
      stdout.write(`${cleanJson(JSON.stringify(value, null, isTerminal ? 2 : 0))}\n`);
    },
    jsonLine: (value) => {
      hide();
      stdout.write(`${cleanJson(JSON.stringify(value))}\n`);
    },
    table: (columns, rows) => {
      if (isTerminal) for (const line of renderTable(columns, rows, widthOf(stdout))) write(stdout, line);
      else for (const row of rows) stdout.write(`${row.map((cell) => render(cell, false)).join('\t')}\n`);
    },
    say: (text) => {
      if (!isJson) write(stderr, text);
    },
    complain: (text) => write(stderr, text),
    progress: (text) => {
      if (!showsProgress) return { update: () => {}, end: () => {} };
      clearInterval(shown?.timer);
      hide();
      const beganMs = performance.now();
      const timer = setInterval(() => {
        if (performance.now() - beganMs >= quietMs) draw();
      }, frameMs);
      timer.unref();
      shown = { text, frame: 0, visible: false, timer };
      return {
        update: (next) => {
          if (shown !== undefined) shown.text = next;
        },
        end: () => {
          clearInterval(timer);
          if (shown?.timer !== timer) return;
          hide();
          shown = undefined;
        },
      };
    },
  };
}
