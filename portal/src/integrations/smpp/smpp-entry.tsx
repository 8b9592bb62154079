import { Button } from '@mantine/core';
import { Link } from 'wouter';
import { Icon } from '../../parts/icon.tsx';
import { Panel } from '../../parts/panel.tsx';
import { words } from '../../words/smpp.tsx';

/** Links to the accounts for programs that speak SMPP. */
export function SmppEntry({ applicationId }: { applicationId: string }) {
  return (
    <Panel
      title={words.title}
      lead={
        <>
          {words.about} {words.lead}
        </>
      }
      actions={
        <Button
          component={Link}
          href={`/applications/${applicationId}/integrations/smpp`}
          variant="default"
          rightSection={<Icon name="arrow" size={16} />}
        >
          {words.open}
        </Button>
      }
    />
  );
}
