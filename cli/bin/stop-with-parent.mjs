/**
 * npm and npx signal the shell that they run us in, and that shell exits without passing the signal on. A process that was
 * not started by npm has no such shell, and may outlive its parent.
 */
export function stopWithParent() {
  if (process.env.npm_lifecycle_event !== undefined) endWithParent();
}

/** Shuts down when the process that started this one has ended. */
export function endWithParent() {
  const parent = process.ppid;
  const watch = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(watch);
    process.kill(process.pid, 'SIGTERM');
  }, 200);
  watch.unref();
}
