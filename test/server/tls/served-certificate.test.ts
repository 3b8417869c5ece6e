import { X509Certificate } from 'node:crypto'
import { unlink, writeFile } from 'node:fs/promises'
import { connect } from 'node:tls'
import { describe, expect, it, onTestFinished } from 'vitest'
import { ServedCertificate } from '../../../src/server/tls/served-certificate.ts'
import { openTlsListener, type TlsListener } from '../../../src/server/tls/tls-listener.ts'
import { createCertificate, type TestCertificate } from '../../helpers/certificate.ts'
import { CollectedLog } from '../../helpers/collected-log.ts'
import { certificateDirectory } from './tls-service.ts'

/** Milliseconds. */
const lookEvery = 20
const changed = /"level":30.*has changed/

describe('ServedCertificate', () => {
  it('serves what its files hold after they were replaced', async () => {
    const { listener, files, log } = await serve()
    const next = createCertificate()
    await files.replace(next)
    await log.until(changed)
    expect(await servedBy(listener)).toBe(fingerprintOf(next))
  })

  it('sees files that were written anew in their place', async () => {
    const { listener, files, log } = await serve()
    const next = createCertificate()
    await writeFile(files.tlsCert, next.cert)
    await writeFile(files.tlsKey, next.key)
    await log.until(changed)
    expect(await servedBy(listener)).toBe(fingerprintOf(next))
  })

  it('keeps a pair when the new one does not belong together, says so once, and takes the next good one', async () => {
    const { listener, files, pair, log } = await serve()
    await files.replace({ cert: createCertificate().cert, key: pair.key })
    const told = await log.until(/"level":50.*does not belong to the first certificate in/)
    expect(await servedBy(listener)).toBe(fingerprintOf(pair))

    const next = createCertificate()
    await files.replace(next)
    await log.until(changed)
    expect(await servedBy(listener)).toBe(fingerprintOf(next))
    expect(log.lines(40)).toEqual([told])
  })

  it('keeps a pair when a file is gone, and tells of it again after it was back', async () => {
    const { listener, files, pair, log } = await serve()
    const removed = /"level":50.*cannot read tlsKey/
    await unlink(files.tlsKey)
    await log.until(removed)
    expect(await servedBy(listener)).toBe(fingerprintOf(pair))

    const next = createCertificate()
    await files.replace(next)
    await log.until(changed)
    const before = log.lines().length
    await unlink(files.tlsKey)
    await log.until(removed, before)
  })

  it('keeps a pair when the new one has expired, and warns of it', async () => {
    const { listener, files, pair, log } = await serve()
    await files.replace(createCertificate({ clock: '-2d' }))
    await log.until(/"level":40.*expired/)
    expect(await servedBy(listener)).toBe(fingerprintOf(pair))
    expect(log.lines(50)).toEqual([])
  })

  it('serves a pair that is not valid yet, since the clock may be behind, and warns of it', async () => {
    const { listener, files, log } = await serve()
    const next = createCertificate({ clock: '+1h' })
    await files.replace(next)
    await log.until(/"level":40.*not valid yet/)
    expect(await servedBy(listener)).toBe(fingerprintOf(next))
  })
})

async function serve() {
  const pair = createCertificate()
  const files = await certificateDirectory(pair)
  const log = new CollectedLog()
  const certificate = await ServedCertificate.open(files, log.logger, lookEvery)
  const listener = await openTlsListener({
    certificate,
    endpoint: { host: '127.0.0.1', hostOption: 'host', port: 0, portOption: 'mqttsPort', from: String },
    allowHalfOpen: false,
    admit: (_socket, next) => next(),
    accept: socket => socket.end(),
    log: log.logger,
  })
  onTestFinished(async () => {
    certificate.close()
    await listener.close()
  })
  return { listener, files, pair, log }
}

/** What a new connection is shown. */
function servedBy({ address }: TlsListener): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port: address.port, rejectUnauthorized: false }, () => {
      resolve(socket.getPeerCertificate().fingerprint256)
      socket.destroy()
    })
    socket.on('error', reject)
  })
}

function fingerprintOf({ cert }: TestCertificate): string {
  return new X509Certificate(cert).fingerprint256
}
