// The long form of the hostile-input tests: every shape in every place and size, while another caller is timed.
process.env.HELIOGRAPH_TEST_LONG = '1';
if (process.argv.length === 2) process.argv.push('test/hostile');
await import('./test.ts');
