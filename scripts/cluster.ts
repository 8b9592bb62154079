// Clusters to try things out: three nodes, or with `-- ha` all that survives the loss of a machine.
if (process.argv[2] === 'ha') await import('./ha/try-out.ts');
else await import('./three-nodes.ts');
