import { useState } from 'react';
import { toProblem } from '../../api/problem.ts';
import { Check } from '../../parts/check.tsx';
import { ConfirmButton } from '../../parts/confirm-button.tsx';
import { words } from '../../words/operator/carriers.ts';

interface DeleteCarrierProps {
  name: string;
  remove: (force: boolean) => Promise<void>;
}

/** Asks first. It offers to drop unfinished texts only after the service has refused to delete the carrier. */
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
    <ConfirmButton label={words.delete.label} about={name} question={words.delete.question(name)} act={act}>
      {words.delete.detail}
      {refused && (
        <Check label={words.delete.force} description={words.delete.forceDetail} checked={force} onChange={setForce} />
      )}
    </ConfirmButton>
  );
}
