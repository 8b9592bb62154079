/** Made by build/guides.ts of the Markdown documents. */
declare module 'virtual:guides' {
  export interface GuideEntry {
    slug: string;
    title: string;
    summary: string;
    headings: { id: string; text: string }[];
  }

  export interface GuideText {
    heading: string;
    html: string;
  }

  export const guides: GuideEntry[];
  export const guideTexts: Record<string, () => Promise<{ default: GuideText }>>;
}
