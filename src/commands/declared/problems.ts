import { type FieldProblem, StartError } from '../../platform/errors.ts';

/** What is wrong with a file, each by its JSON path. */
export interface Problems {
  readonly all: readonly FieldProblem[];
  add(path: string, message: string): void;
  /** Adds the problems of an entry. The path of the entry goes before their fields. Returns whether there are any. */
  addAll(path: string, problems: readonly FieldProblem[]): boolean;
  /** Throws one error that names them all. */
  throwIfAny(): void;
}

/** A file may be wrong everywhere; a person reads no more than this. */
const mostShown = 200;

export function createProblems(): Problems {
  const all: FieldProblem[] = [];
  return {
    all,
    add: (field, message) => void all.push({ field, message }),
    addAll(path, problems) {
      for (const { field, message } of problems)
        all.push({
          field: field === 'request' ? path : [path, field].filter((part) => part !== '').join('.'),
          message,
        });
      return problems.length > 0;
    },
    throwIfAny() {
      if (all.length > 0) throw new FileError(all);
    },
  };
}

/** A file that cannot be applied. */
export class FileError extends StartError {
  readonly problems: readonly FieldProblem[];

  constructor(problems: readonly FieldProblem[]) {
    const lines = problems.slice(0, mostShown).map(({ field, message }) => `  ${field} ${message}`);
    const more = problems.length - lines.length;
    super(['Nothing has been changed:', ...lines, ...(more > 0 ? [`  … and ${more} more`] : [])].join('\n'));
    this.problems = problems;
  }
}
