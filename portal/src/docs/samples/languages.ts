import { curlSample } from './curl.ts';
import { goSample } from './go.ts';
import { phpSample } from './php.ts';
import { pythonSample } from './python.ts';
import type { SampleRequest } from './request.ts';
import { typescriptSample } from './typescript.ts';

export type Language = 'curl' | 'typescript' | 'python' | 'go' | 'php';

interface LanguageEntry {
  name: Language;
  title: string;
  sample: (request: SampleRequest) => string;
}

/** In the order of the tabs: our client first. */
export const languages: LanguageEntry[] = [
  { name: 'typescript', title: 'TypeScript', sample: typescriptSample },
  { name: 'curl', title: 'curl', sample: curlSample },
  { name: 'python', title: 'Python', sample: pythonSample },
  { name: 'go', title: 'Go', sample: goSample },
  { name: 'php', title: 'PHP', sample: phpSample },
];
