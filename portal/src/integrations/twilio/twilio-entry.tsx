import { Button } from '@mantine/core';
import { Link } from 'wouter';
import { Icon } from '../../parts/icon.tsx';
import { Panel } from '../../parts/panel.tsx';
import { words as allWords } from '../../words/integrations.tsx';

const words = allWords.twilio;

/** Links to the credentials for Twilio's library. */
export function TwilioEntry({ applicationId }: { applicationId: string }) {
  return (
    <Panel
      title={words.title}
      lead={
        <>
          {words.lead} {words.about}
        </>
      }
      actions={
        <Button
          component={Link}
          href={`/applications/${applicationId}/integrations/twilio`}
          variant="default"
          rightSection={<Icon name="arrow" size={16} />}
        >
          {words.open}
        </Button>
      }
    />
  );
}
