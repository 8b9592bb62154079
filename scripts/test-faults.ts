// The long form of the tests that break things: the same files as in `npm test`, with more of everything.
process.env.HELIOGRAPH_TEST_LONG = '1';
if (process.argv.length === 2) process.argv.push('test/faults', 'test/cluster', 'test/races', 'edge/redis-windows');
await import('./test.ts');
