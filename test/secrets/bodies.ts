import { jsonEscaped, percentEncoded } from './forms.ts'

export const basic = (secret: string) => `Basic ${Buffer.from(`user:${secret}`).toString('base64')}`
const record = (members: string) => `{"values":[{"key":"n","value":1,${members}}]}`

/** Bodies that are refused, or have more in them than is read. */
export const bodies: Record<string, (secret: string) => string> = {
  'in a body that is no JSON': s => `token=${s}&value=1`,
  'in quotes that are no object': s => JSON.stringify(s),
  'as an unknown member': s => `{"token":"${s}","${s}":1,"values":[{"key":"n","value":1,"token":"${s}"}]}`,
  'as an unknown member of a refused write': s => `{"token":"${s}","values":[]}`,
  'as write id': s => `{"id":"${s}","values":[{"key":"n","value":1}]}`,
  'as write id of a refused write': s => `{"id":"${s}","values":[{"key":"","value":1}]}`,
  'as write id that is too long': s => `{"id":"${s}${s}","values":[{"key":"n","value":1}]}`,
  'in a refused key': s => `{"values":[{"key":"${s}/${s}","value":1}]}`,
  'in a magic key': s => `{"values":[{"key":"$${s}","value":1}]}`,
  'in a settings path': s => `{"values":[{"key":"$settings.${s}!","value":1}]}`,
  'in a value beside a refused key': s => `{"values":[{"key":"","value":"${s}"}]}`,
  'in a value beside a good record': s => `{"values":[{"key":"n","value":1},{"key":"","value":"${s}"}]}`,
  'in a partial write': s =>
    `{"partial":true,"values":[{"key":"n","value":1},{"key":"$${s}","value":"${s}"}]}`,
  'as datetime': s => record(`"datetime":"${s}"`),
  'as position': s => record(`"geo":{"lat":"${s}","long":"${s}"}`),
  'as flag': s => `{"store":"${s}","values":[{"key":"n","value":1}]}`,
  'as a forbidden member': s => record(`"value":{"__proto__":{"${s}":"${s}"}}`),
  'across the cut of the excerpt': s => `{"values":[{"key":"","value":"${'.'.repeat(140)}${s}"}]}`,
  'across the cut after letters': s => `{"values":[{"key":"","value":"${'é'.repeat(150)}-${s}"}]}`,
  'behind an escape': s => `{"values":[{"key":"","value":"\\u00${s}"}]}`,
  'in a Basic credential': s => `{"values":[{"key":"","value":"${basic(s)}"}]}`,
  'in a URL': s => `{"values":[{"key":"","value":"http://localhost/v2/things/${s}?a"}]}`,
}

/** The same, spelled or cut on the way. Not in wills: what waits to be written is kept as it came (contract §12). */
export const spelledBodies: Record<string, (secret: string) => string> = {
  'in a form that is percent-encoded': s => `token=${percentEncoded(s).toLowerCase()}&value=1`,
  'percent-encoded as an unknown member': s => `{"token":"${percentEncoded(s)}","values":[]}`,
  'percent-encoded twice': s => `{"token":"${percentEncoded(s).replaceAll('%', '%25')}","values":[]}`,
  'in JSON escapes': s => `{"values":[{"key":"","value":"${jsonEscaped(s)}"}]}`,
  'in JSON escapes as write id': s => `{"id":"${jsonEscaped(s)}","values":[]}`,
  'in UTF-16': s => [...`{"token":"${s}"}`].join('\0'),
  'in lines': s => `${s.replace(/.{11}/g, '$&\r\n')}`,
  'cut off by a small buffer': s => `{"values":[{"key":"n","value":1}],"token":"${s.slice(0, 33)}`,
  'cut off shorter': s => `{"values":[{"key":"n","value":1}],"token":"${s.slice(0, 24)}`,
  'the end of it alone': s => `{"values":[{"key":"${s.slice(-25)}!","value":1}]}`,
  'cut off as write id': s => `{"id":"${s.slice(0, 32)}","values":[]}`,
}
