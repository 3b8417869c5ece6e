/** The address that opens the page signed in. A browser sends no server the part behind `#`. */
export function signInLink(url: string, sessionToken: string): string {
  return `${url}/#session=${sessionToken}`
}
