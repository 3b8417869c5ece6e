import { execFileSync } from 'node:child_process'
import { otherClock } from './other-clock.ts'

/** A self-signed certificate for a name and `127.0.0.1`, and its key, PEM. */
export interface TestCertificate {
  readonly cert: string
  readonly key: string
}

/**
 * Makes a certificate that is valid for a day, each with a key of its own. A client trusts it with `ca: cert`.
 *
 * @param setup `host`: the name beside 127.0.0.1; `clock`: how far off the clock is by which the day begins, such as `-2d`
 */
export function createCertificate({
  host = 'localhost',
  clock,
}: {
  readonly host?: string
  readonly clock?: string
} = {}): TestCertificate {
  const key = '-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout -'.split(' ')
  const names = ['-subj', '/CN=Thingwire test', '-addext', `subjectAltName=DNS:${host},IP:127.0.0.1`]
  const pem = execFileSync('openssl', ['req', '-x509', ...key, ...names, '-days', '1', '-out', '-'], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
    env: { ...process.env, ...(clock !== undefined && otherClock(clock)) },
  })
  const begin = pem.indexOf('-----BEGIN CERTIFICATE')
  return { cert: pem.slice(begin), key: pem.slice(0, begin) }
}
