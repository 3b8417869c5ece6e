/** Text of a device for a terminal: what would steer the terminal is spelled out. */
export function printable(text: string): string {
  return text.replace(
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
    /[\u0000-\u001f\u007f-\u009f]/g,
    control => `\\u${control.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
