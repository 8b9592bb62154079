// A command on a read-only root, with one folder that it may write to. It needs a machine that allows private mounts.
import { spawnSync } from 'node:child_process';
import { makeFolder } from '../../support/process.ts';

const script = `
folder=$1; shift
mount --bind "$folder" "$folder" || exit 97
for place in / /tmp /var/tmp /run /dev/shm; do
  if mountpoint -q "$place"; then mount -o remount,bind,ro "$place" || exit 97; fi
done
cd "$folder"
exec "$@"`;

function onReadOnlyRoot(folder: string, command: string[]): [string, ...string[]] {
  return ['unshare', '--mount', 'sh', '-c', script, 'sh', folder, ...command];
}

/** Writes beside its folder and in it: only the second may succeed. */
function isAllowed(): boolean {
  const folder = makeFolder('read-only');
  const attempt = ['sh', '-c', 'touch ../beside /tmp/beside 2>/dev/null && exit 1; touch within'];
  const [program, ...args] = onReadOnlyRoot(folder, attempt);
  return spawnSync(program, args, { stdio: 'ignore' }).status === 0;
}

/** Undefined where the machine does not allow it. */
export const readOnlyCommand = isAllowed() ? onReadOnlyRoot : undefined;
