/** Pictures of counts. */
export const words = {
  chart: (title: string, step: string) => `${title} per ${step}`,
  share: (count: string, share: string) => `${count} (${share})`,
  numbers: 'Show the numbers',
  step: 'Time',
  over: (time: string) => `over ${time}`,
  seconds: (seconds: string) => `${seconds} s`,
  minutes: (minutes: string) => `${minutes} min`,
  nothing: 'No traffic in this time range.',
};
