// A command as the chart's pods run it: on a read-only root with one folder that it may write to, as a user without rights
// and with no way to get any. It needs a machine that allows private mounts.
import { spawnSync } from 'node:child_process';
import { chmodSync } from 'node:fs';
import { makeFolder } from '../../support/process.ts';

/** That of the chart. */
export const podUser = 1000;

const script = `
folder=$1; user=$2; shift 2
chown "$user:$user" "$folder" || exit 97
mount --bind "$folder" "$folder" || exit 97
for place in / /tmp /var/tmp /run /dev/shm; do
  if mountpoint -q "$place"; then mount -o remount,bind,ro "$place" || exit 97; fi
done
cd "$folder"
exec setpriv --reuid="$user" --regid="$user" --clear-groups --no-new-privs --inh-caps=-all --bounding-set=-all -- "$@"`;

function onReadOnlyRoot(folder: string, command: string[]): [string, ...string[]] {
  return ['unshare', '--mount', 'sh', '-c', script, 'sh', folder, String(podUser), ...command];
}

/** Who it is, and writes in its folder and beside it: only the first may succeed. The beside is open to everyone. */
const attempt = `
[ "$(id -u):$(id -g)" = ${podUser}:${podUser} ] || exit 1
grep -q '^CapEff:[[:space:]]0*$' /proc/self/status || exit 1
touch "$1/beside" /dev/shm/beside 2>/dev/null && exit 1
touch within`;

function isAllowed(): boolean {
  const [folder, beside] = [makeFolder('read-only'), makeFolder('beside')];
  chmodSync(beside, 0o777);
  const [program, ...args] = onReadOnlyRoot(folder, ['sh', '-c', attempt, 'sh', beside]);
  return spawnSync(program, args, { stdio: 'ignore' }).status === 0;
}

/** Undefined where the machine does not allow it. */
export const readOnlyCommand = isAllowed() ? onReadOnlyRoot : undefined;
