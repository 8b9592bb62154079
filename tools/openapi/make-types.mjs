// Reads an OpenAPI document from standard input and writes TypeScript types of it to standard output.
import { text } from 'node:stream/consumers';
import openapiTS, { astToString } from 'openapi-typescript';

// With its default options, which are those of most of its users.
process.stdout.write(astToString(await openapiTS(await text(process.stdin))));
