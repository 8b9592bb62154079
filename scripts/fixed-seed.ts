// Loaded before test files with properties: `npm test` tries the same values each time, so that it cannot fail by chance.
// `npm run test:long` does not load it, and tries new values.
import fc from 'fast-check';

fc.configureGlobal({ seed: 20_260_101 });
