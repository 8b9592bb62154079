/**
 * What comes first in a file that holds packages in CommonJS. They ask for Node's modules by `require`, from a place. Node 20
 * has no `navigator`: without one pg tests for another runtime by making a Response, for which Node loads all of fetch.
 */
export function bannerFor(place) {
  return [
    "import { createRequire as createRequireHere } from 'node:module';",
    `const require = createRequireHere(${place});`,
    "globalThis.navigator ??= { userAgent: 'Node.js' };",
  ].join('\n');
}
