import { Button } from '@mantine/core';
import { words as listWords } from '../../words/list.ts';

/** The button below a list that has more items. */
export function ShowMore({ onClick }: { onClick: (() => void) | undefined }) {
  if (onClick === undefined) return null;
  return (
    <Button variant="default" size="xs" mt="sm" onClick={onClick}>
      {listWords.showMore}
    </Button>
  );
}
