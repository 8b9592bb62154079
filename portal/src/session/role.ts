import { useSession } from './session.tsx';

/** Whether the signed-in member may change applications. Viewers only read, so pages offer them no change. */
export function useCanChange(): boolean {
  const { account } = useSession();
  return account !== null && account.role !== 'viewer';
}
