import { NativeSelect } from '@mantine/core';
import { applicationPath, call } from '../api/call.ts';
import type { Application } from '../api/types.ts';
import { ProblemCallout } from '../parts/notice/problem-callout.tsx';
import { useToast } from '../parts/notice/toast.tsx';
import { useAction } from '../session/use-action.ts';
import { words as allWords } from '../words/overview.ts';

const words = allWords.assurance;

/** The profile that verifications of the application keep; a choice is saved at once. */
export function Assurance({ application, onChange }: { application: Application; onChange: () => void }) {
  const showToast = useToast();
  const { run, busy, problem } = useAction(async (assurance: string) => {
    await call('PATCH', applicationPath(application.id), { body: { assurance } });
    showToast(words.saved);
    onChange();
  });
  return (
    <>
      <NativeSelect
        mt="md"
        maw={360}
        label={words.label}
        description={words.about}
        disabled={busy}
        value={application.assurance}
        data={Object.entries(words.profiles).map(([value, label]) => ({ value, label }))}
        onChange={(event) => run(event.currentTarget.value)}
        error={problem?.of('assurance')}
      />
      <ProblemCallout problem={problem} fields={['assurance']} />
    </>
  );
}
