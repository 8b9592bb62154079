import { Button } from '@mantine/core';
import { Component, type ReactNode } from 'react';
import { words } from '../../words/parts.tsx';
import { Callout } from './callout.tsx';

/** Shows an error instead of a blank page: after a rendering error, or when an update removed a part of the page. */
export class ErrorBoundary extends Component<{ children: ReactNode }, { failed: boolean }> {
  override state: { failed: boolean } = { failed: false };

  static getDerivedStateFromError(): { failed: boolean } {
    return { failed: true };
  }

  override render(): ReactNode {
    if (!this.state.failed) return this.props.children;
    return (
      <Callout tone="bad" title={words.broken.title}>
        {words.broken.next}
        <div>
          <Button variant="default" size="xs" mt={8} onClick={() => location.reload()}>
            {words.broken.reload}
          </Button>
        </div>
      </Callout>
    );
  }
}
