/** Shown to viewers in place of forms and buttons. */
export const words = {
  title: 'Read only',
  askForRole: 'Your role is viewer. To make changes, ask an owner of the account for the developer role.',
  tryTitle: 'Call the API',
  tryNotAllowed: 'Viewers cannot send',
};
