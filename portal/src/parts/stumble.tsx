import { Button } from '@mantine/core';
import { Component, type ReactNode } from 'react';
import { Note } from './note.tsx';

/** A page that fails, or a part of it that cannot be loaded any more after an update, says so instead of vanishing. */
export class Stumble extends Component<{ children: ReactNode }, { failed: boolean }> {
  override state: { failed: boolean } = { failed: false };

  static getDerivedStateFromError(): { failed: boolean } {
    return { failed: true };
  }

  override render(): ReactNode {
    if (!this.state.failed) return this.props.children;
    return (
      <Note tone="bad" title="This page could not be shown.">
        The service may have been updated, or cannot be reached.
        <div>
          <Button variant="default" size="xs" mt={8} onClick={() => location.reload()}>
            Reload
          </Button>
        </div>
      </Note>
    );
  }
}
