// The pure tests beside their sources, or those of them whose path contains an argument: no build, no database, seconds.
import { findTestFiles, isUnitTest } from './test-files.ts';

const files = findTestFiles(process.argv.slice(2)).filter(isUnitTest);
if (files.length > 0) process.argv.splice(2, Number.POSITIVE_INFINITY, ...files);
await import('./test.ts');
