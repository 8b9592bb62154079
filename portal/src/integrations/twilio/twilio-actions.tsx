import { call } from '../../api/call.ts';
import type { NewTwilioAccount } from '../../api/types.ts';
import { ConfirmButton } from '../../parts/confirm-button.tsx';
import { useToast } from '../../parts/notice/toast.tsx';
import { useCanChange } from '../../session/role.ts';
import { Rotate } from '../../webhooks/rotate.tsx';
import { words as allWords } from '../../words/integrations.tsx';
import styles from '../integrations.module.css';

const words = allWords.twilio;

interface TwilioActionsProps {
  path: string;
  onChange: () => void;
  onRotated: (made: NewTwilioAccount) => void;
}

export function TwilioActions({ path, onChange, onRotated }: TwilioActionsProps) {
  const showToast = useToast();
  const canChange = useCanChange();
  if (!canChange) return null;
  return (
    <div className={styles.actions}>
      <Rotate
        what={words.what}
        older={words.older}
        rotate={async (overlapSeconds) => {
          const body = { overlap_seconds: overlapSeconds };
          onRotated(await call<NewTwilioAccount>('POST', `${path}/tokens`, { body }));
        }}
      />
      <ConfirmButton
        label={words.delete}
        size="sm"
        question={words.deleteQuestion}
        act={async () => {
          await call('DELETE', path);
          showToast(words.deleted);
          onChange();
        }}
      >
        {words.deleteDetail}
      </ConfirmButton>
    </div>
  );
}
