import { EmptyState } from '../parts/notice/empty-state.tsx';
import { Panel } from '../parts/panel.tsx';
import { words } from '../words/role.ts';

/** Calls from this page count against the plan and send texts, so viewers see whom to ask instead. */
export function TryForViewer() {
  return (
    <Panel title={words.tryTitle}>
      <EmptyState title={words.tryNotAllowed}>{words.askForRole}</EmptyState>
    </Panel>
  );
}
