import { Stack } from '@mantine/core';
import type { TabProps } from '../parts/tab-props.ts';
import { ApiKeys } from './api-keys.tsx';
import { ClientKeys } from './client-keys.tsx';
import { ClientSecrets } from './client-secrets.tsx';

export default function Credentials({ application, onChange }: TabProps) {
  return (
    <Stack gap="lg">
      <ApiKeys application={application} />
      <ClientSecrets application={application} onChange={onChange} />
      {application.client !== null && <ClientKeys application={application} />}
    </Stack>
  );
}
