export interface Argument {
  name: string;
  summary: string;
  optional?: true;
  many?: true;
  choices?: readonly string[];
}

export interface Option {
  name: string;
  short?: string;
  /** The placeholder of its value, like `<name>`; an option without one is a switch. */
  value?: string;
  summary: string;
  many?: true;
  choices?: readonly string[];
}

/** The arguments and options of a command. */
export interface Syntax {
  /** One or two words, like `send` or `verify start`. */
  name: string;
  arguments: readonly Argument[];
  options: readonly Option[];
  /** Passes on everything after its name unread: another program reads it. */
  takesAll?: true;
}
