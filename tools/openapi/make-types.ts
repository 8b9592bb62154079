import openapiTS, { astToString } from 'openapi-typescript';

/** TypeScript types of an OpenAPI document, as generated clients have them. */
export async function makeTypes(document: string): Promise<string> {
  const nodes = await openapiTS(document, { alphabetize: false, defaultNonNullable: false });
  return astToString(nodes);
}
