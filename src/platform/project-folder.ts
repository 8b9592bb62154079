/** The project's folder, or the installed package. Sources here and the compiled service both lie two levels below it, so this file must stay where it is. */
export const projectFolder = new URL('../../', import.meta.url);
