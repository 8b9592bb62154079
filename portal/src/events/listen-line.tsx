import { CodeBlock } from '../parts/code-block.tsx';
import { Panel } from '../parts/panel.tsx';
import { words } from '../words/webhooks.tsx';

/** The command that brings an application's events to a developer's own machine. */
export function ListenLine({ applicationId }: { applicationId: string }) {
  return (
    <Panel title={words.listen.title} lead={words.listen.lead}>
      <CodeBlock what={words.listen.copy} text={words.listen.command(applicationId)} />
    </Panel>
  );
}
