import { type GuideEntry, guides as made } from 'virtual:guides';

export type { GuideEntry };

/** Every guide, in the order of the menu. */
export const guides: GuideEntry[] = made;
