/** How much of a secret, from either end, must not be found: 20 of its 43 characters. */
const revealing = 20

/** Bytes that give a secret, or one end of it, away, by the name of the form that they have. */
export function formsOf(secret: string): Map<string, Buffer> {
  const forms = new Map<string, Buffer>()
  const ends = { start: secret.slice(0, revealing), end: secret.slice(-revealing) }
  for (const [which, part] of Object.entries(ends)) {
    const bytes = Buffer.from(part)
    const add = (name: string, form: string | Buffer) => forms.set(`${which} ${name}`, Buffer.from(form))
    add('in clear', part)
    add('in hex', bytes.toString('hex'))
    add('in HEX', bytes.toString('hex').toUpperCase())
    add('percent-encoded', percentEncoded(part))
    add('percent-encoded in lower case', percentEncoded(part).toLowerCase())
    add('in JSON escapes', jsonEscaped(part))
    add('in UTF-16', Buffer.from(part, 'utf16le'))
    for (const [place, text] of base64At(bytes).entries()) {
      add(`in base64, place ${place}`, text)
      add(`in base64url, place ${place}`, text.replaceAll('+', '-').replaceAll('/', '_'))
    }
  }
  // A token is itself 32 bytes in base64url.
  const decoded = Buffer.from(secret, 'base64url').subarray(0, (revealing * 3) / 4)
  forms.set('start as bytes', decoded)
  forms.set('start as bytes in hex', Buffer.from(decoded.toString('hex')))
  return forms
}

/** Every character as a browser never would, but any client may. */
export function percentEncoded(text: string): string {
  return [...Buffer.from(text)].map(byte => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join('')
}

/** As programs do that send nothing but ASCII, and more thoroughly. */
export function jsonEscaped(text: string): string {
  return [...text].map(character => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`).join('')
}

/**
 * What the base64 of a longer text holds where that text holds these bytes: it depends on how many bytes are before them,
 * and the characters at both ends belong in part to their neighbours.
 */
function base64At(bytes: Buffer): readonly string[] {
  return [0, 1, 2].map(before => {
    const text = Buffer.concat([Buffer.alloc(before), bytes])
      .toString('base64')
      .replaceAll('=', '')
    const whole = Math.floor(((before + bytes.length) * 8) / 6)
    return text.slice(Math.ceil((before * 8) / 6), whole)
  })
}
