// The long form of the fault tests: the same files as in `npm test`, with larger numbers.
process.env.HELIOGRAPH_TEST_LONG = '1';
if (process.argv.length === 2) process.argv.push('test/faults', 'test/cluster', 'test/races', 'parts/redis-windows');
await import('./test.ts');
