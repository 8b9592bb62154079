import { useState } from 'react';
import { toProblem } from '../../api/problem.ts';
import { Check } from '../../parts/check.tsx';
import { ConfirmButton } from '../../parts/confirm-button.tsx';

interface DeleteCarrierProps {
  name: string;
  remove: (force: boolean) => Promise<void>;
}

/** Asks, and offers to lose what is on its way only after the service has refused. */
export function DeleteCarrier({ name, remove }: DeleteCarrierProps) {
  const [refused, setRefused] = useState(false);
  const [force, setForce] = useState(false);

  async function act(): Promise<void> {
    try {
      await remove(force);
    } catch (error) {
      if (toProblem(error).status === 409) setRefused(true);
      throw error;
    }
  }

  return (
    <ConfirmButton label="Delete" about={name} question={`Delete ${name}?`} act={act}>
      Its connections are closed and its settings and secrets are removed. A carrier added later under the same name is
      another carrier.
      {refused && (
        <Check
          label="Delete it anyway"
          description="Texts that it holds end as unknown, and receipts that are still to come are lost."
          checked={force}
          onChange={setForce}
        />
      )}
    </ConfirmButton>
  );
}
