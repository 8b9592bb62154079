import { Button } from '@mantine/core';
import type { Problem } from '../api/problem.ts';
import { Note } from './note.tsx';

interface ProblemNoteProps {
  problem: Problem | undefined;
  /** Fields that show their own problem beside themselves. */
  fields?: string[];
  onRetry?: () => void;
}

/** What went wrong, in the service's own words. */
export function ProblemNote({ problem, fields = [], onRetry }: ProblemNoteProps) {
  if (problem === undefined) return null;
  const others = problem.details.filter(({ field }) => !fields.includes(field));
  if (problem.details.length > 0 && others.length === 0) return null;
  return (
    <Note tone="bad" title={problem.message}>
      {others.length > 1 && (
        <ul>
          {others.map(({ field, message }) => (
            <li key={`${field} ${message}`}>
              <code>{field}</code> {message}
            </li>
          ))}
        </ul>
      )}
      {problem.correlationId !== null && problem.status >= 500 && (
        <div>
          Quote <code>{problem.correlationId}</code> when you report this.
        </div>
      )}
      {onRetry !== undefined && (
        <Button variant="default" size="xs" mt={8} onClick={onRetry}>
          Try again
        </Button>
      )}
    </Note>
  );
}
