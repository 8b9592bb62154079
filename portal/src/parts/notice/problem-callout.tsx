import { Button } from '@mantine/core';
import type { Problem } from '../../api/problem.ts';
import { words } from '../../words/parts.tsx';
import { Callout } from './callout.tsx';

interface ProblemCalloutProps {
  problem: Problem | undefined;
  /** Fields whose input shows the error itself. */
  fields?: string[];
  onRetry?: () => void;
}

/** Shows the error message of the service. */
export function ProblemCallout({ problem, fields = [], onRetry }: ProblemCalloutProps) {
  if (problem === undefined) return null;
  const others = problem.details.filter(({ field }) => !fields.includes(field));
  if (problem.details.length > 0 && others.length === 0) return null;
  return (
    <Callout tone="bad" title={problem.message}>
      {others.length > 1 && (
        <ul>
          {others.map(({ field, message }) => (
            <li key={`${field} ${message}`}>
              <code>{field}</code> {message}
            </li>
          ))}
        </ul>
      )}
      {problem.correlationId !== null && problem.status >= 500 && <div>{words.quoteId(problem.correlationId)}</div>}
      {onRetry !== undefined && (
        <Button variant="default" size="xs" mt={8} onClick={onRetry}>
          {words.tryAgain}
        </Button>
      )}
    </Callout>
  );
}
