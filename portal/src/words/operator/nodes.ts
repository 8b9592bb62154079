export const words = {
  title: 'Nodes',
  lead: 'The processes of this service. A node that stops disappears after a minute. Updated every 5 seconds.',
  table: 'Nodes',
  columns: {
    node: 'Node',
    state: 'State',
    version: 'Version',
    role: 'Role',
    started: 'Started',
    seen: 'Last seen',
  },
  live: 'up',
  silent: 'down',
  answered: 'serves this page',
  roles: { all: 'web and worker', web: 'web', worker: 'worker' } as Record<string, string>,
  unknown: '–',
  mixed: {
    title: 'Nodes run different versions',
    text: 'This is normal during an update. Otherwise, restart the nodes that run the older version.',
  },
};
