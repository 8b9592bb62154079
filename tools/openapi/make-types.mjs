// Reads an OpenAPI document from standard input and writes TypeScript types of it to standard output.
import { text } from 'node:stream/consumers';
import openapiTS, { astToString } from 'openapi-typescript';

// A field with a default can be left out of a request.
const nodes = await openapiTS(await text(process.stdin), { defaultNonNullable: false });
process.stdout.write(astToString(nodes));
