import { Button } from '@mantine/core';
import { Icon } from '../parts/icon.tsx';
import { words } from '../words/records.tsx';

/** Downloads what the list shows. The browser sends the session's cookie. */
export function ExportLink({ href }: { href: string }) {
  return (
    <Button
      component="a"
      href={href}
      download
      variant="default"
      leftSection={<Icon name="down" size={16} />}
      title={words.search.exportHint}
    >
      {words.search.export}
    </Button>
  );
}
