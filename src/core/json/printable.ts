/** Escapes control characters in text from a device, so that a terminal can show it safely. */
export function printable(text: string): string {
  return text.replace(
    // biome-ignore lint/suspicious/noControlCharactersInRegex: this function replaces control characters
    /[\u0000-\u001f\u007f-\u009f]/g,
    control => `\\u${control.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
